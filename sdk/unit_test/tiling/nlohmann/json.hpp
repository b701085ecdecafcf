// Tests include this without need; the JSON library itself is no part of this SDK, and a test that uses it does not
// compile here.
#ifndef ASCEND_SDK_UNIT_TEST_NLOHMANN_JSON_HPP
#define ASCEND_SDK_UNIT_TEST_NLOHMANN_JSON_HPP

namespace nlohmann {
class json;
}

#endif
