# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipe for Conan 2 of the sources that it is in: packaging/README.md says how to use it."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Kernelsearch(ConanFile):
    name = "kernelsearch"
    description = "Makes compute kernels faster and keeps them correct"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("autotuning", "kernel-tuning", "cuda", "hip", "opencl", "vulkan")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # components: those of find_package(kernelsearch COMPONENTS ...), with commas between, or all.
    # system_packages: what it depends on comes from the system's packages rather than from Conan.
    options = {"components": ["ANY"], "system_packages": [True, False]}
    default_options = {"components": "all", "system_packages": False}

    def set_version(self):
        header = load(self, os.path.join(SOURCES, "include", "kernelsearch", "version.hpp"))
        self.version = re.search(r'#define KERNELSEARCH_VERSION "([^"]*)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "THIRD_PARTY_NOTICES", "cmake/*", "data/*", "include/*", "src/*", "python/kernelsearch/*.py"):
            copy(self, pattern, src=SOURCES, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" and str(self.options.components) not in ("core", "core_noexcept", "header_only"):
            raise ConanInvalidConfiguration(f"the components {self.options.components} need Linux; on {self.settings.os} write -o 'kernelsearch/*:components=core'")

    def requirements(self):
        if self.options.system_packages:
            return
        self.requires("eigen/[>=3.4 <6]", transitive_headers=True)
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        if str(self.options.components) in ("core", "core_noexcept", "header_only"):
            return
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("fmt/[>=9 <12]")
        self.requires("sqlite3/[>=3.40 <4]")
        self.requires("openssl/[>=3 <4]")
        self.requires("zlib/[>=1.2.13 <2]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KERNELSEARCH_COMPONENTS"] = str(self.options.components).replace(",", ";")
        for programs in ("APPS", "TESTS", "EXAMPLES"):
            toolchain.cache_variables[f"KERNELSEARCH_BUILD_{programs}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        for text in ("LICENSE", "THIRD_PARTY_NOTICES"):
            copy(self, text, src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install(component="development")

    def package_info(self):
        # The package's own kernelsearchConfig.cmake says what each component needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "kernelsearch"))
