#include "backends/cpu/nodes/winograd.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/nodes/packed_constant.h"
#include "core/base/error.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr int kSide = 6, kTile = 4;  // of the patch that an output tile reads, and of the tile
constexpr int kPlanes = kSide * kSide;
constexpr int64_t kFewestChannels = 16;  // a vector of AVX-512
constexpr int kLeastVector = 32;         // bytes; nothing is compiled for shorter ones, which SuitsWinograd refuses

// The tiles of the output, in the order of their pixels.
struct TileGrid {
  explicit TileGrid(const Shape& out)
      : high(Tiles(out[1], kTile)), wide(Tiles(out[2], kTile)), all(out[0] * high * wide) {}
  int64_t high, wide, all;
};

// One dimension of the transforms: of six vectors in place, and from six to four.
template <int kBytes>
HEARTH_INTO_CALLER inline void TransformPatch(typename VectorOf<kBytes>::Floats* d) {
  const auto a = d[4] - 4.0f * d[2], b = d[3] - 4.0f * d[1], c = d[4] - d[2], e = 2.0f * (d[3] - d[1]);
  const auto first = 4.0f * d[0] - 5.0f * d[2] + d[4], last = 4.0f * d[1] - 5.0f * d[3] + d[5];
  d[0] = first;
  d[1] = a + b;
  d[2] = a - b;
  d[3] = c + e;
  d[4] = c - e;
  d[5] = last;
}

template <int kBytes>
HEARTH_INTO_CALLER inline void TransformSums(const typename VectorOf<kBytes>::Floats* m,
                                             typename VectorOf<kBytes>::Floats* out) {
  const auto a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
  out[0] = m[0] + a + c;
  out[1] = b + 2.0f * d;
  out[2] = a + 4.0f * c;
  out[3] = b + 8.0f * d + m[5];
}

// From three weights to six.
template <int kBytes>
HEARTH_INTO_CALLER inline void TransformWeights(const typename VectorOf<kBytes>::Doubles* w,
                                                typename VectorOf<kBytes>::Doubles* out) {
  const auto a = w[0], b = w[1], c = w[2], far = a * (1.0 / 24.0) + c * (1.0 / 6.0);
  out[0] = a * 0.25;
  out[1] = (a + c + b) * (-1.0 / 6.0);
  out[2] = (a + c - b) * (-1.0 / 6.0);
  out[3] = far + b * (1.0 / 12.0);
  out[4] = far - b * (1.0 / 12.0);
  out[5] = c;
}

// Transforms the 3x3 weights of an output channel, pixel by pixel, and writes each input channel's to the planes.
template <int kBytes>
HEARTH_INTO_CALLER inline void TransformWindow(const float* window, int64_t channels, float* planes,
                                               int64_t plane_step) {
  using Doubles = typename VectorOf<kBytes>::Doubles;
  constexpr int64_t kLanes = kBytes / sizeof(double);
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t at = std::min(c, channels - kLanes);  // the last vector may overlap the one before
    Doubles lines[kSide][3], three[3], six[kSide];
    for (int x = 0; x < 3; ++x) {
      HEARTH_UNROLLED for (int y = 0; y < 3; ++y) {
        LoadFloats<double>(window + (y * 3 + x) * channels + at, three[y]);
      }
      TransformWeights<kBytes>(three, six);
      HEARTH_UNROLLED for (int y = 0; y < kSide; ++y) lines[y][x] = six[y];
    }
    for (int y = 0; y < kSide; ++y) {
      TransformWeights<kBytes>(lines[y], six);
      float* target = planes + y * kSide * plane_step + at;
      HEARTH_UNROLLED for (int x = 0; x < kSide; ++x) StoreFloats<double>(six[x], target + x * plane_step);
    }
  }
}

// One thread's scratch memory for a block of tiles: their patches and sums, plane by plane.
struct Block {
  Block(const FloatConvolution& g, int64_t tiles, std::vector<float>& memory)
      : patch_step(tiles * g.in[3] + kApart), sum_step(tiles * g.out[3] + kApart) {
    const int64_t zeros_size = RoundUp(int64_t{g.in[3]}, kApart);
    memory.resize(std::max(memory.size(), static_cast<size_t>(zeros_size + kPlanes * (patch_step + sum_step))));
    std::fill_n(memory.data(), zeros_size, 0.0f);
    zeros = memory.data();
    patches = memory.data() + zeros_size;
    sums = patches + kPlanes * patch_step;
  }
  // Planes a multiple of 4 KiB apart would evict each other from the first-level cache.
  static constexpr int64_t kApart = 16;
  const float* zeros;
  float *patches, *sums;
  int64_t patch_step, sum_step;
};

class Winograd {
 public:
  Winograd(const FloatConvolution& convolution, const PackedMatrices& weights, const float* x, float* y,
           const ProductFinish& finish)
      : g_(convolution), weights_(weights), x_(x), y_(y), finish_(finish), grid_(convolution.out) {}

  // False if a sum is not finite.
  bool Run(WorkerPool& workers) const {
    constexpr int64_t kBlockFloats = 64 * 1024, kTilesOfProduct = 12;  // a block stays in the second-level cache
    const int64_t of_tile = kPlanes * (int64_t{g_.in[3]} + g_.out[3]);
    const int64_t tiles = std::clamp<int64_t>(kBlockFloats / of_tile / kTilesOfProduct, 1, 8) * kTilesOfProduct;
    const int64_t blocks = Tiles(grid_.all, tiles), work = grid_.all * kPlanes * g_.in[3] * g_.out[3];
    std::atomic<bool> is_finite{true};
    workers.ForEachPart(blocks, work < kMinWorkForThreads ? blocks : 1, [&](int64_t begin, int64_t end) {
      thread_local std::vector<float> memory;  // shared by all convolutions, so that its pages are in use already
      const Block block(g_, tiles, memory);
      for (int64_t number = begin; number < end && is_finite; ++number) {
        const int64_t first = number * tiles;
        if (!RunBlock(block, first, std::min(tiles, grid_.all - first))) is_finite = false;
      }
    });
    return is_finite;
  }

 private:
  struct Place {
    int64_t image, y, x;  // of the tile's first pixel
  };
  Place PlaceOf(int64_t tile) const {
    return {tile / grid_.wide / grid_.high, tile / grid_.wide % grid_.high * kTile, tile % grid_.wide * kTile};
  }

  bool RunBlock(const Block& block, int64_t first, int64_t count) const {
    const VectorSet set = BestVectorSet();
    const int64_t in = g_.in[3], out = g_.out[3];
    RunWithVectorBytes(set, [&](auto bytes) HEARTH_INTO_CALLER {
      if constexpr (decltype(bytes)::value < kLeastVector) return;
      for (int64_t tile = 0; tile < count; ++tile)
        ReadPatch<decltype(bytes)::value>(PlaceOf(first + tile), block.zeros, block.patches + tile * in,
                                          block.patch_step);
    });
    for (int plane = 0; plane < kPlanes; ++plane) {
      weights_.MultiplyBlock(plane, {block.patches + plane * block.patch_step, in, 1, {}}, count,
                             block.sums + plane * block.sum_step, {}, 0, 1);
    }
    bool is_finite = true;
    RunWithVectorBytes(set, [&](auto bytes) HEARTH_INTO_CALLER {
      if constexpr (decltype(bytes)::value < kLeastVector) return;
      for (int64_t tile = 0; tile < count; ++tile) {
        is_finite &= WriteTile<decltype(bytes)::value>(PlaceOf(first + tile), block.sums + tile * out, block.sum_step);
      }
    });
    return is_finite;
  }

  // Transforms the patch that a tile reads, with zeros outside the image.
  template <int kBytes>
  HEARTH_INTO_CALLER void ReadPatch(const Place& place, const float* zeros, float* planes, int64_t plane_step) const {
    using Floats = typename VectorOf<kBytes>::Floats;
    constexpr int64_t kLanes = kBytes / sizeof(float);
    const int64_t channels = g_.in[3], top = place.y - g_.padding.top, left = place.x - g_.padding.left;
    const float* pixels[kSide][kSide];
    for (int64_t y = 0; y < kSide; ++y) {
      const bool is_line = top + y >= 0 && top + y < g_.in[1];
      const int64_t line = (place.image * g_.in[1] + top + y) * g_.in[2] + left;
      for (int64_t x = 0; x < kSide; ++x) {
        const bool is_inside = is_line && left + x >= 0 && left + x < g_.in[2];
        pixels[y][x] = is_inside ? x_ + (line + x) * channels : zeros;
      }
    }
    for (int64_t c = 0; c < channels; c += kLanes) {
      const int64_t at = std::min(c, channels - kLanes);  // the last vector may overlap the one before
      Floats lines[kSide][kSide], six[kSide];
      for (int x = 0; x < kSide; ++x) {
        HEARTH_UNROLLED for (int y = 0; y < kSide; ++y) std::memcpy(&six[y], pixels[y][x] + at, sizeof(Floats));
        TransformPatch<kBytes>(six);
        HEARTH_UNROLLED for (int y = 0; y < kSide; ++y) lines[y][x] = six[y];
      }
      for (int y = 0; y < kSide; ++y) {
        HEARTH_UNROLLED for (int x = 0; x < kSide; ++x) six[x] = lines[y][x];
        TransformPatch<kBytes>(six);
        float* target = planes + y * kSide * plane_step + at;
        HEARTH_UNROLLED for (int x = 0; x < kSide; ++x) std::memcpy(target + x * plane_step, &six[x], sizeof(Floats));
      }
    }
  }

  // Transforms a tile's sums and writes its pixels. False if a sum is not finite.
  template <int kBytes>
  HEARTH_INTO_CALLER bool WriteTile(const Place& place, const float* planes, int64_t plane_step) const {
    using Floats = typename VectorOf<kBytes>::Floats;
    constexpr int64_t kLanes = kBytes / sizeof(float);
    const int64_t channels = g_.out[3];
    const int64_t high = std::min<int64_t>(kTile, g_.out[1] - place.y),
                  wide = std::min<int64_t>(kTile, g_.out[2] - place.x);
    float* tile = y_ + ((place.image * g_.out[1] + place.y) * g_.out[2] + place.x) * channels;
    const Floats lowest = Floats{} + finish_.lowest, highest = Floats{} + finish_.highest;
    Floats check = {};
    for (int64_t c = 0; c < channels; c += kLanes) {
      const int64_t at = std::min(c, channels - kLanes);
      Floats bias = {}, lines[kTile][kSide], six[kSide], four[kTile];
      if (finish_.bias != nullptr) std::memcpy(&bias, finish_.bias + at, sizeof(Floats));
      for (int x = 0; x < kSide; ++x) {
        const float* from = planes + x * plane_step + at;
        HEARTH_UNROLLED for (int y = 0; y < kSide; ++y) {
          std::memcpy(&six[y], from + y * kSide * plane_step, sizeof(Floats));
        }
        TransformSums<kBytes>(six, four);
        HEARTH_UNROLLED for (int y = 0; y < kTile; ++y) lines[y][x] = four[y];
      }
      for (int64_t y = 0; y < high; ++y) {
        TransformSums<kBytes>(lines[y], four);
        for (int64_t x = 0; x < wide; ++x) {
          Floats sum = four[x] + bias;
          check += sum * 0.0f;  // NaN if it is not finite
          sum = sum < lowest ? lowest : sum;
          sum = sum > highest ? highest : sum;
          std::memcpy(tile + (y * g_.out[2] + x) * channels + at, &sum, sizeof(Floats));
        }
      }
    }
    bool is_finite = true;
    for (int64_t lane = 0; lane < kLanes; ++lane) is_finite &= check[lane] == 0.0f;
    return is_finite;
  }

  const FloatConvolution& g_;
  const PackedMatrices& weights_;
  const float* x_;
  float* y_;
  const ProductFinish& finish_;
  const TileGrid grid_;
};

}  // namespace

bool SuitsWinograd(const FloatConvolution& g) {
  constexpr int64_t kMostWeights = 4 << 20;  // bytes of transformed weights
  constexpr int64_t kFewestTiles = 8;        // fewer take longer than windows: 7x7 pixels, 128 channels 1.3 times
  constexpr double kMostWaste = 1.6;         // pixels of all tiles, for each of the output
  const Window2D& window = g.window;
  const bool is_small_window = g.kernel_h == 3 && g.kernel_w == 3 && window.stride_h == 1 && window.stride_w == 1 &&
                               window.dilation_h == 1 && window.dilation_w == 1;
  if (!is_small_window || g.is_depthwise || BestVectorSet() == VectorSet::kBase) return false;
  const int64_t in = g.in[3], out = g.out[3], pixels = int64_t{g.out[0]} * g.out[1] * g.out[2];
  if (in < kFewestChannels || out < kFewestChannels || in > kMostWeights / out / kPlanes / int64_t{sizeof(float)})
    return false;
  const int64_t tiles = TileGrid(g.out).all;
  return tiles >= kFewestTiles &&
         static_cast<double>(tiles * kTile * kTile) <= kMostWaste * static_cast<double>(pixels);
}

[[gnu::cold]] static Result<PackedMatrices> Transformed(const HostNodeRequest& request, ValueId weights) {
  HEARTH_ASSIGN(const std::vector<float> numbers, ConstantAs<float>(request.graph, weights));
  const Shape& filter = request.graph.value(weights).desc.shape;
  const int64_t out = filter[0], in = filter[3];
  const auto planes = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(kPlanes * out * in));
  request.workers.ForEachPart(out, 1, [&](int64_t begin, int64_t end) {
    RunWithVectorBytes<kMostBytesFor<double>>(BestVectorSet(), [&](auto bytes) HEARTH_INTO_CALLER {
      if constexpr (decltype(bytes)::value < kLeastVector) return;
      for (int64_t n = begin; n < end; ++n)
        TransformWindow<decltype(bytes)::value>(numbers.data() + n * 9 * in, in, planes.get() + n * in, out * in);
    });
  });
  std::vector<MatrixView> views;
  for (int64_t plane = 0; plane < kPlanes; ++plane) views.push_back({planes.get() + plane * out * in, 1, in, {}});
  PackedMatrices packed(in, out, kPlanes, BestVectorSet(), request.weights);
  packed.Pack(views, request.workers);
  return packed;
}

Result<std::shared_ptr<const PackedMatrices>> WinogradWeights(const HostNodeRequest& request, ValueId weights) {
  WeightsKey key("winograd");
  key.Add(request.graph, weights).Add(static_cast<int64_t>(BestVectorSet()));
  return request.weights.FindOrTry<PackedMatrices>(key, [&] { return Transformed(request, weights); });
}

bool ConvolveByWinograd(const FloatConvolution& convolution, const PackedMatrices& weights, const float* x, float* y,
                        const ProductFinish& finish, WorkerPool& workers) {
  return Winograd(convolution, weights, x, y, finish).Run(workers);
}

}  // namespace hearth
