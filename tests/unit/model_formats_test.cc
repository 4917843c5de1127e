#include "frontends/api/model_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "hearth/model.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> TextBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

bool BeginsAsToy(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "TOY1", 4) == 0;
}

constexpr ModelFormat kToy = {"toy", BeginsAsToy, nullptr, nullptr, nullptr};

TEST(ModelFormats, AReaderIsChosenByTheFirstBytes) {
  std::vector<ModelFormat> formats(ModelFormats().begin(), ModelFormats().end());
  formats.push_back(kToy);
  EXPECT_EQ(FormatOf(TextBytes("TOY1 and more"), formats).name, "toy");
  EXPECT_EQ(FormatOf(TextBytes("0000TFL30000"), formats).name, "tflite");
}

TEST(ModelFormats, WhatNoReaderKnowsIsExplainedByTheFirst) {
  for (const std::string_view text : {"", "TOY", "TFL3", "0000TFL"}) {
    EXPECT_EQ(FormatOf(TextBytes(text)).name, ModelFormats().front().name) << text;
  }
  const Result<Model> model = Model::FromMemory(TextBytes("no model at all"), "here");
  EXPECT_EQ(model.status().code(), StatusCode::kMalformedInput);
  EXPECT_THAT(model.status().message(), HasSubstr("not a TFLite model"));
}

}  // namespace
}  // namespace hearth
