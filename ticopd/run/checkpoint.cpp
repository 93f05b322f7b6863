#include "ticopd/run/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/run/shared_file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/collective.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Lists the tensors of a run in the order of its visit. The tensor of a mirror is its surrogate
// rows.
template <class T>
struct Tensors final : StateVisitor<T> {
  struct Tensor {
    std::string name;
    Field<T>* rows;
    std::vector<int> ids;  // the index of each row in the tensor of all ranks
    std::size_t hosted;    // the first `hosted` rows are this rank's; their ids are contiguous
    std::size_t total;     // rows of all ranks

    std::uint64_t row_bytes() const { return rows->cols() * sizeof(T); }
    std::uint64_t bytes() const { return total * row_bytes(); }
    json shape() const { return {total, rows->cols()}; }
  };
  explicit Tensors(const Placement& p) : plan(p) {}
  void field(std::string_view name, Field<T>& rows) override {
    std::vector<int> agents;
    for (std::size_t row = 0; row < plan.rows(); ++row) agents.push_back(plan.agent(row));
    all.push_back({std::string(name), &rows, std::move(agents), plan.rows(),
                   static_cast<std::size_t>(plan.agents())});
  }
  void mirror(std::string_view name, AnyMirror<T>& m) override {
    const Routes<T>& r = m.routes();
    all.push_back({std::string(name), &m.rows(), r.ids(), r.hosted(), r.total()});
  }
  const Placement& plan;
  std::vector<Tensor> all;
};

template <class T>
constexpr const char* dtype() {
  return sizeof(T) == 4 ? "F32" : "F64";
}

// A hash of the header without this hash. A flipped bit in a note, such as the round, would still
// parse. The text always has 16 digits, so that every rank computes the same header length.
std::string check_of(json& header) {
  json& notes = header["__metadata__"];
  const json there = notes.value("check", json());
  notes.erase("check");
  const std::string text = header.dump();
  if (!there.is_null()) notes["check"] = there;
  return fmt::format("{:016x}", hash_row(std::as_bytes(std::span(text))));
}

// The parsed header of a checkpoint file.
struct Header {
  json text;
  std::uint64_t data = 0;  // offset of the first tensor
};

Header read_header(File& file, const fs::path& path) {
  const std::uint64_t size = file.size();
  std::uint64_t length = 0;
  if (size < sizeof length) throw FormatError(path.string() + ": is not a checkpoint (too short)");
  file.read_at(0, std::as_writable_bytes(std::span(&length, 1)));
  // A damaged length must not make us allocate gigabytes.
  if (length > size - sizeof length || length > (1u << 30) || length % 8 != 0)
    throw FormatError(path.string() + ": is not a checkpoint (header length " +
                      std::to_string(length) + ")");
  std::string text(length, '\0');
  file.read_at(sizeof length, std::as_writable_bytes(std::span(text)));
  Header header{parse_json(text), sizeof length + length};
  if (!header.text.is_object() || !header.text.contains("__metadata__") ||
      !header.text["__metadata__"].is_object())
    throw FormatError(path.string() + ": is not a checkpoint (header does not parse)");
  if (header.text["__metadata__"].value("check", json()) != check_of(header.text))
    throw FormatError(path.string() + ": its header is damaged (its hash differs)");
  return header;
}

constexpr std::size_t hash_digits = 16;

std::string hash_text(std::span<const std::byte> row) {
  return fmt::format("{:016x}", hash_row(row));
}

// The note that holds the hashes of a tensor's rows. They reveal a bit that flipped on the disk.
std::string hashes_note(const std::string& tensor) {
  return "hashes of " + tensor;
}

// Empty unless all are whole numbers from 0 up: a conversion would wrap -8 to a huge number.
std::vector<std::uint64_t> offsets_of(const json& list) {
  std::vector<std::uint64_t> offsets;
  for (const json& offset : list) {
    if (!offset.is_number_unsigned()) return {};
    offsets.push_back(offset.get<std::uint64_t>());
  }
  return offsets;
}

// The hashes of all rows in rank order. Collective: every rank gets all hashes.
template <class T>
std::string row_hashes(AnyNetwork<T>& net, const Field<T>& rows, std::size_t hosted) {
  std::string mine;
  for (std::size_t i = 0; i < hosted; ++i) mine += hash_text(std::as_bytes(rows.row(i)));
  const auto all = all_gather_values<char>(net.surroundings().transport, channel_checkpoint, mine);
  return {all.begin(), all.end()};
}

// What a rank writes: the head of the file, and its rows where they live.
struct Contents {
  std::string head;
  std::vector<FilePiece> mine;
};

template <class T>
Contents contents_of(AnyNetwork<T>& net, AnyRun<T>& run, const CheckpointNotes& notes) {
  // A mirror may still be in flight; its surrogate is complete only after the exchange.
  run.complete();
  Tensors<T> tensors(net.placement());
  run.visit(tensors);
  json header{{"__metadata__", notes}};
  std::uint64_t offset = 0;
  for (const auto& t : tensors.all) {
    header[t.name] = {{"dtype", dtype<T>()},
                      {"shape", t.shape()},
                      {"data_offsets", {offset, offset + t.bytes()}}};
    offset += t.bytes();
  }
  for (const auto& t : tensors.all)
    header["__metadata__"][hashes_note(t.name)] = row_hashes(net, *t.rows, t.hosted);
  header["__metadata__"]["check"] = check_of(header);
  std::string text = header.dump();
  // safetensors pads the header with blanks, so that the tensors are aligned to 8 bytes.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size(), data = sizeof length + length;

  std::vector<FilePiece> mine;
  std::uint64_t begin = data;
  for (const auto& t : tensors.all) {
    const std::span<const T> rows(t.rows->data(), t.hosted * t.rows->cols());
    if (t.hosted > 0)
      mine.push_back(
          {begin + static_cast<std::uint64_t>(t.ids[0]) * t.row_bytes(), std::as_bytes(rows)});
    begin += t.bytes();
  }
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
  return {std::move(text), std::move(mine)};
}

}  // namespace

template <class T>
void save_checkpoint(const fs::path& path, AnyNetwork<T>& net, AnyRun<T>& run,
                     const CheckpointNotes& notes) {
  const Contents c = contents_of(net, run, notes);
  write_together(net.surroundings().transport, path, net.round(), std::as_bytes(std::span(c.head)),
                 c.mine);
}

template <class T>
CheckpointImage checkpoint_image(AnyNetwork<T>& net, AnyRun<T>& run, const CheckpointNotes& notes) {
  Contents c = contents_of(net, run, notes);
  CheckpointImage image{net.round(), std::move(c.head), {}};
  for (const FilePiece& piece : c.mine)
    image.pieces.emplace_back(piece.offset,
                              std::vector<std::byte>(piece.bytes.begin(), piece.bytes.end()));
  return image;
}

void write_checkpoint(const fs::path& file, const CheckpointImage& image) {
  Alone alone;
  std::vector<FilePiece> pieces;
  for (const auto& [offset, bytes] : image.pieces) pieces.push_back({offset, bytes});
  write_together(alone, file, image.round, std::as_bytes(std::span(image.head)), pieces);
}

CheckpointNotes read_checkpoint_notes(const fs::path& path) {
  File file(path, O_RDONLY);
  const Header header = read_header(file, path);
  CheckpointNotes notes;
  for (const auto& [key, value] : header.text["__metadata__"].items())
    if (value.is_string()) notes[key] = value.get<std::string>();
  return notes;
}

template <class T>
void load_checkpoint(const fs::path& path, AnyNetwork<T>& net, AnyRun<T>& run) try {
  run.complete();  // receive what its constructor may have sent
  File file(path, O_RDONLY);
  const Header header = read_header(file, path);
  const std::uint64_t size = file.size();
  Tensors<T> tensors(net.placement());
  run.visit(tensors);
  for (const auto& t : tensors.all) {
    const json shape = t.shape();
    if (!header.text.contains(t.name) || header.text[t.name].value("dtype", "") != dtype<T>() ||
        header.text[t.name].value("shape", json()) != shape)
      throw FormatError(path.string() + ": has no tensor \"" + t.name + "\" of type " + dtype<T>() +
                        " and shape " + shape.dump());
    const std::vector<std::uint64_t> offsets =
        offsets_of(header.text[t.name].value("data_offsets", json()));
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] - offsets[0] != t.bytes() ||
        offsets[1] > size - header.data)
      throw FormatError(path.string() + ": tensor \"" + t.name + "\" does not fit the file");
    const std::string hashes = header.text["__metadata__"].value(hashes_note(t.name), "");
    if (hashes.size() != hash_digits * t.total)
      throw FormatError(path.string() + ": has no hashes of tensor \"" + t.name + "\"");
    for (std::size_t row = 0; row < t.rows->rows(); ++row) {
      const auto id = static_cast<std::size_t>(t.ids[row]);
      file.read_at(header.data + offsets[0] + id * t.row_bytes(),
                   std::as_writable_bytes(t.rows->row(row)));
      if (hash_text(std::as_bytes(t.rows->row(row))) !=
          hashes.substr(id * hash_digits, hash_digits))
        throw FormatError(fmt::format(
            "{}: {} {}'s row of tensor \"{}\" is damaged (its hash differs)", path.string(),
            t.total == static_cast<std::size_t>(net.placement().agents()) ? "agent" : "link", id,
            t.name));
    }
  }
} catch (const json::exception&) {  // a tensor's entry has values of wrong types
  throw FormatError(path.string() + ": its header is damaged");
}

template void save_checkpoint<float>(const fs::path&, AnyNetwork<float>&, AnyRun<float>&,
                                     const CheckpointNotes&);
template void save_checkpoint<double>(const fs::path&, AnyNetwork<double>&, AnyRun<double>&,
                                      const CheckpointNotes&);
template CheckpointImage checkpoint_image<float>(AnyNetwork<float>&, AnyRun<float>&,
                                                 const CheckpointNotes&);
template CheckpointImage checkpoint_image<double>(AnyNetwork<double>&, AnyRun<double>&,
                                                  const CheckpointNotes&);
template void load_checkpoint<float>(const fs::path&, AnyNetwork<float>&, AnyRun<float>&);
template void load_checkpoint<double>(const fs::path&, AnyNetwork<double>&, AnyRun<double>&);

}  // namespace ticopd
