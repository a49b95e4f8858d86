# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class UseOfKernelsearch(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            programs = ["smallest"]
            components = str(self.dependencies["kernelsearch"].options.components).split(",")
            if "all" in components or "run" in components:
                programs.append("in_house_autotuner")
            for program in programs:
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
