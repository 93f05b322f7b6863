#include "ticopd/codecs/table.hpp"

namespace ticopd {
namespace {

std::vector<std::string_view> codec_names() {
  return codec_table().names();
}

std::vector<std::string_view> followers() {
  std::vector<std::string_view> names;
  for (const CodecInfo& info : codec_table())
    if (info.may_follow) names.push_back(info.name);
  return names;
}

}  // namespace

// A new option is a line here with its words for reports, and its name in `about` of each codec
// that takes it. Its value is in a member of CodecOptions, or in CodecOptions::own (own_option).
Table<Option<CodecOptions>>& codec_options_table() {
  using O = CodecOptions;
  static Table<Option<O>> table(
      "codec option",
      {
          option<&O::kind>("kind", domain::word(codec_names), "what is sent for a row"),
          option<&O::bits>("bits", domain::whole(1, 16),
                           "`qsgd`: levels 0 to 2^bits - 1; `infinity`: 0 to 2^(bits - 1); both "
                           "have one bit more for the sign. `grid`: 2^bits cells")
              .said("{} bits"),
          option<&O::scaled>("scaled", domain::boolean(), "divide by tau, which makes it contract")
              .said_unless_default("not scaled"),
          option<&O::bucket>("bucket", domain::whole(0, INT32_MAX),
                             "one norm or scale per so many coordinates; 0: one for the row")
              .said_unless_default("buckets of {}"),
          option<&O::k>("k", domain::whole(1, INT32_MAX),
                        "coordinates to send; this or `codec.fraction`")
              .said("k = {}"),
          option<&O::fraction>("fraction", domain::above(0, 1), "k = max(1, floor(fraction d))",
                               "k")
              .said("{:.3g} %", 100),
          option<&O::unbiased>("unbiased", domain::boolean(), "scale by d / k")
              .said_unless_default("unbiased"),
          option<&O::threshold>("threshold", domain::number(0, 1),
                                "keep magnitudes of at least so much of the largest; zeros are "
                                "never kept")
              .said("{:.3g}"),
          option<&O::p>("p", domain::above(0, 1), "the chance that the row travels")
              .said("p = {:.3g}"),
          option<&O::omega>("omega", domain::number(0, 1e6),
                            "error in proportion to the coordinate; 0 is a uniform grid")
              .said("omega {:.3g}"),
          option<&O::step>("step", domain::number(1e-30, 1e30), "error whatever the coordinate")
              .said("step {:.3g}"),
          option<&O::r0>("r0", domain::above(0, 0x1p126), "the box of round 1 is -r0 to r0"),
          option<&O::kappa>("kappa", domain::above(0, 1), "the box's factor each round"),
          option<&O::then>("then", domain::word(followers),
                           "the codec of the kept values, with its options from this table; left "
                           "out, they travel as they are")
              .said("then {}"),
          option<&O::coding>("coding", domain::word(words_of(Coding{})),
                             "how quantised symbols become bits: `fixed` (planes of so many bits), "
                             "`entropy` (near the entropy of each message's symbols), `elias` (the "
                             "code of the QSGD paper). The numbers of a run stay the same. Codecs "
                             "without symbols refuse all but `fixed`")
              .said_unless_default("{}"),
      });
  return table;
}

}  // namespace ticopd
