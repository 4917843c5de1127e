#include "backends/gles/program.h"

#include <algorithm>

#include "core/base/byte_reader.h"
#include "core/base/contains.h"
#include "core/base/error.h"

namespace hearth::gles {
namespace {

// ---- The stored form ----

constexpr uint32_t kMagic = 0x424c4748;  // "HGLB"
constexpr uint32_t kVersion = 1;

Status Damaged(const char* what) {
  return Error(StatusCode::kMalformedInput, "not a stored OpenGL ES program: {}", what);
}

// ---- Programs ----

// Of a shader or a program, by its functions.
template <typename Get, typename GetLog>
std::string LogOf(GLuint object, const Get& get, const GetLog& get_log) {
  GLint size = 0;
  get(object, GL_INFO_LOG_LENGTH, &size);
  std::string log(static_cast<size_t>(std::max(size, 1)), '\0');
  GLsizei length = 0;
  get_log(object, static_cast<GLsizei>(log.size()), &length, log.data());
  log.resize(static_cast<size_t>(std::max(length, 0)));
  return log;
}

std::string ProgramLog(GLuint program) {
  return LogOf(program, glGetProgramiv, glGetProgramInfoLog);
}

// What a log says, or that it says nothing: llvmpipe refuses binaries without a word.
std::string Reason(const std::string& log) {
  return log.find_first_not_of(" \t\r\n") == std::string::npos ? "it gave no reason" : log;
}

// Starts compiling and linking without waiting. The shader lives as long as the program it is attached to.
void StartCompile(const KernelSource& source, GLuint shader, GLuint program) {
  const std::string text = Emit(source, Dialect::kGles);
  const char* texts[] = {text.c_str()};
  const GLint lengths[] = {static_cast<GLint>(text.size())};
  glShaderSource(shader, 1, texts, lengths);
  glCompileShader(shader);
  glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
  glAttachShader(program, shader);
  glLinkProgram(program);
}

Status FinishCompile(const KernelSource& source, GLuint shader, GLuint program) {
  GLint compiled = GL_FALSE, linked = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (compiled != GL_TRUE) {
    return Error(StatusCode::kUnavailable, "the driver does not compile kernel '{}': {}", source.name,
                 Reason(LogOf(shader, glGetShaderiv, glGetShaderInfoLog)));
  }
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked != GL_TRUE) {
    return Error(StatusCode::kUnavailable, "the driver does not link kernel '{}': {}", source.name,
                 Reason(ProgramLog(program)));
  }
  return Status::Ok();
}

// A binary of another kernel would link, but read outside its buffers. The work group's size detects most of them.
Status CheckLocalSize(const Context& context, const KernelSource& source, GLuint program) {
  std::array<GLint, 3> size{};
  glGetProgramiv(program, GL_COMPUTE_WORK_GROUP_SIZE, size.data());
  HEARTH_TRY(context.Check("examining the stored binary of kernel '" + source.name + "'"));
  for (int d = 0; d < 3; ++d) {
    if (size[d] < 0 || static_cast<uint32_t>(size[d]) != source.local_size[d]) {
      return Error(StatusCode::kMalformedInput, "the stored binary of kernel '{}' is another kernel's", source.name);
    }
  }
  return Status::Ok();
}

Status LoadOne(const Context& context, const KernelSource& source, const ProgramBinary& binary, GLuint program) {
  const std::vector<GLint>& formats = context.facts().binary_formats;
  if (!Contains(formats, static_cast<GLint>(binary.format))) {
    return Error(StatusCode::kUnavailable, "the stored binary of kernel '{}' has format {}, which the driver lacks",
                 source.name, binary.format);
  }
  glProgramBinary(program, binary.format, binary.bytes.data(), static_cast<GLsizei>(binary.bytes.size()));
  GLint linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  const Status errors = context.Check("loading kernel '" + source.name + "'");
  if (linked != GL_TRUE || !errors.ok()) {
    return Error(StatusCode::kUnavailable, "the driver does not accept the stored binary of kernel '{}': {}",
                 source.name, errors.ok() ? Reason(ProgramLog(program)) : errors.message());
  }
  return CheckLocalSize(context, source, program);
}

Result<ProgramBinary> ReadBinary(const Context& context, const GlesProgram& program) {
  GLint size_bytes = 0;
  glGetProgramiv(program.id(), GL_PROGRAM_BINARY_LENGTH, &size_bytes);
  if (size_bytes <= 0) {
    return Error(StatusCode::kUnsupported, "the driver has no binary of kernel '{}'", program.source().name);
  }
  ProgramBinary binary;
  binary.bytes.resize(static_cast<size_t>(size_bytes));
  GLsizei length = 0;
  GLenum format = 0;
  glGetProgramBinary(program.id(), size_bytes, &length, &format, binary.bytes.data());
  HEARTH_TRY(context.Check("reading the binary of kernel '" + program.source().name + "'"));
  if (length <= 0 || length > size_bytes) {
    return Error(StatusCode::kUnsupported, "the driver gave no binary of kernel '{}'", program.source().name);
  }
  binary.format = format;
  binary.bytes.resize(static_cast<size_t>(length));
  return binary;
}

}  // namespace

std::vector<std::byte> PackBinaries(std::span<const ProgramBinary> binaries) {
  std::vector<std::byte> out;
  AppendNumber(out, kMagic);
  AppendNumber(out, kVersion);
  AppendNumber(out, static_cast<uint32_t>(binaries.size()));
  for (const ProgramBinary& binary : binaries) {
    AppendNumber(out, binary.format);
    AppendNumber(out, static_cast<uint32_t>(binary.bytes.size()));
    out.insert(out.end(), binary.bytes.begin(), binary.bytes.end());
  }
  return out;
}

Result<std::vector<ProgramBinary>> UnpackBinaries(std::span<const std::byte> container) {
  ByteReader reader(container);
  if (reader.Number<uint32_t>() != kMagic) return Damaged("wrong first bytes");
  if (reader.Number<uint32_t>() != kVersion) return Damaged("another version");
  const auto count = reader.Number<uint32_t>();
  if (reader.failed()) return Damaged("cut short");
  std::vector<ProgramBinary> binaries;  // grows with the bytes that are there, whatever the count claims
  for (uint32_t k = 0; k < count; ++k) {
    const auto format = reader.Number<uint32_t>();
    const std::span<const std::byte> binary = reader.Bytes(reader.Number<uint32_t>());
    if (reader.failed()) return Damaged("cut short");
    if (binary.empty()) return Damaged("an empty binary");
    binaries.push_back({format, {binary.begin(), binary.end()}});
  }
  if (!reader.rest().empty()) return Damaged("bytes after its end");
  return binaries;
}

GlesProgram::~GlesProgram() {
  if (id_ == 0) return;
  context_.OnThread([this] { glDeleteProgram(id_); });
}

GlesProgramGroup::GlesProgramGroup(Context& context, std::span<const KernelSource> sources) : context_(context) {
  for (const KernelSource& source : sources) programs_.push_back(std::make_unique<GlesProgram>(context, source));
}

Result<std::unique_ptr<GlesProgramGroup>> GlesProgramGroup::Compile(Context& context,
                                                                    std::span<const KernelSource> sources) {
  std::unique_ptr<GlesProgramGroup> group(new GlesProgramGroup(context, sources));
  const auto compile = [&]() -> Status {
    std::vector<GLuint> shaders;
    for (size_t k = 0; k < sources.size(); ++k) {
      shaders.push_back(glCreateShader(GL_COMPUTE_SHADER));
      group->program(k).id_ = glCreateProgram();
      StartCompile(sources[k], shaders[k], group->program(k).id());
    }
    Status status;
    for (size_t k = 0; k < sources.size(); ++k) {
      if (status.ok()) status = FinishCompile(sources[k], shaders[k], group->program(k).id());
      glDeleteShader(shaders[k]);
    }
    const Status errors = context.Check("compiling kernels");
    return status.ok() || errors.code() == StatusCode::kDeviceLost ? errors : status;
  };
  HEARTH_TRY(context.OnThread(compile));
  return group;
}

Result<std::unique_ptr<GlesProgramGroup>> GlesProgramGroup::Load(Context& context,
                                                                 std::span<const KernelSource> sources,
                                                                 std::span<const std::byte> binary) {
  HEARTH_ASSIGN(const std::vector<ProgramBinary> binaries, UnpackBinaries(binary));
  if (binaries.size() != sources.size()) {
    return Error(StatusCode::kMalformedInput, "{} stored OpenGL ES programs for {} kernels", binaries.size(),
                 sources.size());
  }
  std::unique_ptr<GlesProgramGroup> group(new GlesProgramGroup(context, sources));
  const auto load = [&]() -> Status {
    for (size_t k = 0; k < sources.size(); ++k) {
      group->program(k).id_ = glCreateProgram();
      HEARTH_TRY(LoadOne(context, sources[k], binaries[k], group->program(k).id()));
    }
    return Status::Ok();
  };
  HEARTH_TRY(context.OnThread(load));
  return group;
}

Result<std::vector<std::byte>> GlesProgramGroup::Binary() {
  if (!context_.facts().takes_binaries()) {
    return Error(StatusCode::kUnsupported, "{} has no program binaries", context_.facts().info.name);
  }
  return context_.OnThread([this]() -> Result<std::vector<std::byte>> {
    std::vector<ProgramBinary> binaries;
    for (size_t k = 0; k < programs_.size(); ++k) {
      HEARTH_ASSIGN(ProgramBinary binary, ReadBinary(context_, program(k)));
      binaries.push_back(std::move(binary));
    }
    return PackBinaries(binaries);
  });
}

}  // namespace hearth::gles
