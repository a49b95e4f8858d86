# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A formula of a checkout, which HOMEBREW_KERNELSEARCH_TREE names: packaging/README.md. A published archive of a release would be
# `url` and `sha256` in place of `head`.
class Kernelsearch < Formula
  desc "Makes compute kernels faster and keeps them correct"
  homepage "file://#{ENV.fetch("HOMEBREW_KERNELSEARCH_TREE", Dir.pwd)}/README.md"
  license "Apache-2.0" => { with: "LLVM-exception" }
  head "file://#{ENV.fetch("HOMEBREW_KERNELSEARCH_TREE", Dir.pwd)}", using: :git, branch: "main"

  depends_on "cmake" => [:build, :test]
  depends_on "ninja" => :build
  depends_on "boost"
  depends_on "eigen"

  on_linux do
    depends_on "cli11" => :build
    depends_on "nlohmann-json" => :build
    depends_on "fmt"
    depends_on "gcc"
    depends_on "openssl@3"
    depends_on "sqlite"
    depends_on "zlib-ng-compat"
  end

  on_macos do
    # std::stop_token came with version 20 of libc++.
    depends_on "llvm"
  end

  fails_with :gcc do
    version "11"
    cause "C++20 of g++ 12 or newer"
  end

  def install
    # The command, the judge and its sandbox need Linux.
    components = OS.linux? ? "all" : "core"
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
           "-DKERNELSEARCH_COMPONENTS=#{components}",
           "-DKERNELSEARCH_BUILD_APPS=#{OS.linux? ? "ON" : "OFF"}",
           "-DKERNELSEARCH_BUILD_TESTS=OFF", "-DKERNELSEARCH_BUILD_EXAMPLES=OFF",
           "-DKERNELSEARCH_RELOCATABLE=ON", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples"
  end

  test do
    (testpath/"CMakeLists.txt").write <<~CMAKE
      cmake_minimum_required(VERSION 3.25)
      project(smallest LANGUAGES CXX)
      find_package(kernelsearch REQUIRED COMPONENTS core)
      add_executable(smallest #{pkgshare}/examples/programs/smallest.cpp)
      target_link_libraries(smallest PRIVATE kernelsearch::core)
    CMAKE
    system "cmake", "-S", ".", "-B", "build"
    system "cmake", "--build", "build"
    assert_match "best of 40", shell_output("build/smallest")
    system bin/"kernelsearch", "doctor" if OS.linux?
  end
end
