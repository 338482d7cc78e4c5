#include "fetch/decide/rewrite.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string rewritten_text(const char* url, const RewriteRules& rules) {
  return rewritten(Url::parse(url), rules).text();
}

TEST(Rewrite, FirstMatchWinsOnce) {
  const RewriteRules rules = {{"https://a.example/", "http://127.0.0.1:8000/a/"},
                              {"https://a.example/data/", "http://never.example/"},
                              {"http://127.0.0.1:8000/", "http://again.example/"},
                              {"ftp://", "https://"}};
  EXPECT_EQ(rewritten_text("https://a.example/data/f.bin?x=1", rules), "http://127.0.0.1:8000/a/data/f.bin?x=1");
  EXPECT_EQ(rewritten_text("http://127.0.0.1:8000/f", rules), "http://again.example/f");
  EXPECT_EQ(rewritten_text("ftp://b.example/f", rules), "https://b.example/f");
  EXPECT_EQ(rewritten_text("https://other.example/f", rules), "https://other.example/f");
}

TEST(Rewrite, AnEmptyPrefixMatchesNothing) {
  EXPECT_EQ(rewritten_text("https://a.example/f", {{"", "file:///x/"}}), "https://a.example/f");
}

TEST(Rewrite, WhatMakesNoUrlIsTheUsersMistake) {
  for (const char* to : {"", "no url ", "http://user:secret@host/"}) {
    try {
      (void)rewritten_text("https://a.example/f", {{"https://a.example/", to}});
      ADD_FAILURE() << to;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::usage);
      EXPECT_FALSE(error.failure().hint.empty());
    }
  }
}

}  // namespace
}  // namespace sabath
