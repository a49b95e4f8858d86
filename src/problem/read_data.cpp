// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <fstream>
#include <system_error>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "npy.hpp"
#include "problem_parts.hpp"
#include "safetensors.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

InputFile read_data_file(const JsonCursor& place, const fs::path& folder, const std::string& shape) {
  InputFile file;
  file.shape = shape;
  file.name = place.string("name a file of the problem's folder");
  file.path = find_file(place, file.name, folder);
  std::error_code error;
  file.bytes = fs::file_size(file.path, error);
  file.digest = error ? std::string() : sha256_of_file(file.path);
  if (file.digest.empty()) place.refuse("names a file that cannot be read", "check its permissions");
  return file;
}

/// The NumPy names of an element type; bf16, which NumPy has not, is stored as its patterns.
std::vector<std::string> npy_types(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return {"<f2"};
    case ElementType::bf16:
      return {"<u2", "<V2", "|V2"};
    case ElementType::f32:
      return {"<f4"};
    case ElementType::f64:
      return {"<f8"};
    case ElementType::boolean:
      return {"|b1"};
    case ElementType::f8e4m3:  // NumPy has neither: stored as their patterns, as ml_dtypes saves them
    case ElementType::f8e5m2:
      return {"|u1", "<V1", "|V1", "<f1"};
    case ElementType::f4e2m1:  // two in a byte; ml_dtypes has one in each
    case ElementType::i4:
    case ElementType::u4:
      return {"|u1"};
    case ElementType::c64:
      return {"<c8"};
    default:
      break;
  }
  const bool is_signed = is_signed_integer(type);
  const std::size_t size = size_in_bytes(type);
  return {(size == 1 ? "|" : "<") + std::string(is_signed ? "i" : "u") + std::to_string(size)};
}

/// The names of an element type in .safetensors; packed types are tensors of their bytes, f4e2m1 also of
/// elements.
std::vector<std::string> safetensors_types(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return {"F16"};
    case ElementType::bf16:
      return {"BF16"};
    case ElementType::f32:
      return {"F32"};
    case ElementType::f64:
      return {"F64"};
    case ElementType::boolean:
      return {"BOOL"};
    case ElementType::f8e4m3:
      return {"F8_E4M3", "U8"};
    case ElementType::f8e5m2:
      return {"F8_E5M2", "U8"};
    case ElementType::f4e2m1:
      return {"F4", "U8"};
    case ElementType::i4:
    case ElementType::u4:
      return {"U8", "I8"};
    case ElementType::c64:
      return {"C64"};
    default:
      return {(is_signed_integer(type) ? "I" : "U") + std::to_string(8 * size_in_bytes(type))};
  }
}

/// All names, for a message.
std::string names_of(const std::vector<SafeTensor>& tensors) {
  std::string names;
  for (std::size_t i = 0; i < tensors.size() && i < 8; ++i) names += (i == 0 ? "" : ", ") + tensors[i].name;
  return tensors.empty() ? "no tensor" : names + (tensors.size() > 8 ? ", ..." : "");
}

void check_safetensors(const JsonCursor& at, const Argument& argument, const std::string& wanted,
                       InputFile& file) {
  const auto refuse = [&](const std::string& why) {
    at.refuse("cannot be read as .safetensors", file.name + ": " + why,
              "save it with safetensors.numpy.save_file");
  };
  if (argument.structure)
    at.refuse("is a .safetensors file for structs", file.name, "store them as raw bytes");
  std::ifstream stream(file.path, std::ios::binary);
  std::string head(8, '\0');
  stream.read(head.data(), 8);
  head.resize(static_cast<std::size_t>(stream.gcount()));
  const auto length = try_safetensors_length(head, file.bytes);
  if (!length) refuse(length.error());
  std::string text(static_cast<std::size_t>(*length), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) refuse("its header cannot be read");
  const auto tensors = try_safetensors(text, file.bytes);
  if (!tensors) refuse(tensors.error());
  const std::string& name = wanted.empty() ? argument.name : wanted;
  auto found =
      std::find_if(tensors->begin(), tensors->end(), [&](const SafeTensor& one) { return one.name == name; });
  if (found == tensors->end() && wanted.empty() && tensors->size() == 1) found = tensors->begin();
  if (found == tensors->end())
    at.refuse("has no tensor of that name", name + "; " + file.name + " has " + names_of(*tensors),
              "give the argument a \"tensor\" with one of its names");
  const std::vector<std::string> types = safetensors_types(argument.named_type());
  if (std::find(types.begin(), types.end(), found->type) == types.end())
    at.refuse("has elements of another type", found->type + " in tensor " + found->name,
              "for " + argument.type_text() + " save " + types.front());
  file.tensor = found->name;
  file.behind = file.bytes - found->offset - found->bytes;
  file.offset = found->offset;
  file.bytes = found->bytes;
}

}  // namespace

bool is_safetensors(const InputFile& file) {
  return fs::path(file.name).extension() == ".safetensors";
}

std::vector<InputFile> read_data_files(const JsonCursor& place, const fs::path& folder,
                                       std::span<const Shape> shapes) {
  constexpr const char* todo = "name a file, or one for each shape: {\"SHAPE\": \"FILE\"}";
  if (place.kind() != JsonNode::Kind::object) {
    if (place.kind() != JsonNode::Kind::string) place.refuse("names no file", todo);
    return {read_data_file(place, folder, {})};
  }
  std::vector<InputFile> files;
  for (const auto& [shape, member] : place.members(todo)) {
    if (std::none_of(shapes.begin(), shapes.end(),
                     [&wanted = shape](const Shape& one) { return one.name == wanted; }))
      member.refuse("is a file for a shape that is not there", shape, "name the shapes as in \"shapes\"");
    files.push_back(read_data_file(member, folder, shape));
  }
  for (const Shape& shape : shapes)
    if (std::none_of(files.begin(), files.end(),
                     [&](const InputFile& file) { return file.shape == shape.name; }))
      place.refuse("names no file for a shape", '"' + shape.name + '"', todo);
  return files;
}

void check_elements(const JsonCursor& place, const Argument& argument, const std::string& wanted,
                    std::vector<InputFile>& files) {
  for (InputFile& file : files) {
    if (is_safetensors(file)) {
      check_safetensors(file.shape.empty() ? place : place.at(file.shape, ""), argument, wanted, file);
      continue;
    }
    if (fs::path(file.name).extension() != ".npy") continue;
    const JsonCursor at = file.shape.empty() ? place : place.at(file.shape, "");
    if (argument.structure) at.refuse("is a .npy file for structs", "store them as raw bytes");
    std::ifstream stream(file.path, std::ios::binary);
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, 1 << 16)), '\0');
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    const auto header = try_npy_header(head);
    if (!header)
      at.refuse("cannot be read as .npy", file.name + ": " + header.error(), "save it with numpy.save");
    const std::vector<std::string> types = npy_types(argument.named_type());
    if (std::find(types.begin(), types.end(), header->type) == types.end())
      at.refuse("has elements of another type", header->type,
                "for " + argument.type_text() + " save " + types.front());
    if (header->fortran_order && header->extents.size() > 1)
      at.refuse("lies in Fortran order", file.name, "save numpy.ascontiguousarray(x)");
    file.offset = header->offset;
    file.bytes -= std::min(file.bytes, header->offset);
    const std::uint64_t size = size_in_bytes(argument.named_type());
    if (header->elements() != file.bytes / size || file.bytes % size != 0)
      at.refuse("is not as long as its header says",
                std::to_string(file.bytes) + " bytes for " + std::to_string(header->elements()) + " elements",
                "save it again");
  }
}

GeneratedInputs read_generator(const JsonCursor& place, const fs::path& folder, std::span<const Shape> shapes,
                               std::string& name) {
  constexpr const char* todo =
      "write {\"source\": \"inputs.cpp\"}, or {\"matrix_market\": \"FILE\", \"row_pointers\": ..., "
      "\"columns\": "
      "..., \"values\": ...}";
  place.only({"source", "flags", "sizes", "matrix_market", "row_pointers", "columns", "values"});
  GeneratedInputs made;
  const auto matrix = place.find("matrix_market");
  const auto source = place.find("source");
  if (matrix && source) place.refuse("is a source and a matrix", "one of them generates", todo);
  if (!matrix && !source) place.refuse("generates nothing", todo);
  for (const char* key : {"row_pointers", "columns", "values"})
    if (const auto found = place.find(key); found && !matrix)
      found->refuse("belongs to a matrix", "add \"matrix_market\", or remove it");
  if (matrix) {
    if (const auto flags = place.find("flags"))
      flags->refuse("are flags for a matrix, which nothing compiles", "remove them");
    made.flags.clear();
    made.matrix_market = read_data_files(*matrix, folder, shapes);
    for (const auto& [key, text] :
         {std::make_pair("row_pointers", &made.row_pointers), std::make_pair("columns", &made.columns),
          std::make_pair("values", &made.values)})
      if (const auto found = place.find(key)) *text = found->string("name the argument that gets them");
    made.sizes = {"rows", "columns", "entries"};
  } else {
    made.source = read_source(*source, folder, &name);
    if (made.source.find_first_not_of(" \t\r\n") == std::string::npos)
      source->refuse("is an empty source", "write make_inputs into it");
    if (const auto flags = place.find("flags")) {
      made.flags.clear();
      for (const JsonCursor& item : flags->items("list the compiler's flags, e.g. [\"-O2\"]"))
        made.flags.push_back(item.string("a flag is a string"));
    }
  }
  if (const auto sizes = place.find("sizes")) {
    constexpr const char* list = "list the names of sizes that the generator gives, e.g. [\"nnz\"]";
    made.sizes.clear();
    for (const JsonCursor& item : sizes->items(list)) {
      made.sizes.push_back(item.string(list));
      check_name(item, made.sizes.back(), "a size");
      if (std::count(made.sizes.begin(), made.sizes.end(), made.sizes.back()) > 1)
        item.refuse("is listed twice", "list each size once");
    }
    if (matrix && made.sizes.size() != 3)
      sizes->refuse("names not the three sizes of a matrix", std::to_string(made.sizes.size()) + " names",
                    "name its rows, columns and entries");
  }
  for (const std::string& size : made.sizes)
    for (const NamedValue& variable : shapes.front().variables)
      if (variable.first == size)
        place.refuse("gives a size that is called like a shape variable", size, "rename one of them");
  return made;
}

std::vector<std::string> read_libraries(const JsonCursor& place) {
  constexpr const char* todo = "list libraries by name, e.g. [\"m\", \"openblas\"]";
  std::vector<std::string> libraries;
  for (const JsonCursor& item : place.items(todo)) {
    const std::string& name = item.string(todo);
    const bool fine = !name.empty() && name.front() != '-' && name.size() <= 128 &&
                      std::all_of(name.begin(), name.end(),
                                  [](char c) { return in_word(c) || c == '-' || c == '+' || c == '.'; });
    if (!fine) item.refuse("is not a name of a library", "as after -l: letters, digits, _ - + .");
    libraries.push_back(name);
  }
  return libraries;
}

}  // namespace kernelsearch::detail
