// Fields of the structures that describe communication fused into an operator.
// Included several times with different meanings of the LIBRARY_TILING macros, so without a guard; see library_tilings.h.

BEGIN_LIBRARY_TILING(Mc2ServerCfg)
LIBRARY_TILING_FIELD(uint32_t, version)
LIBRARY_TILING_FIELD(uint8_t, debugMode)
LIBRARY_TILING_FIELD(uint8_t, sendArgIndex)
LIBRARY_TILING_FIELD(uint8_t, recvArgIndex)
LIBRARY_TILING_FIELD(uint8_t, commOutArgIndex)
LIBRARY_TILING_ARRAY(uint8_t, 8, reserved)
END_LIBRARY_TILING

BEGIN_LIBRARY_TILING(Mc2HcommCfg)
LIBRARY_TILING_FIELD(uint8_t, skipLocalRankCopy)
LIBRARY_TILING_FIELD(uint8_t, skipBufferWindowCopy)
LIBRARY_TILING_FIELD(uint8_t, stepSize)
LIBRARY_TILING_ARRAY(char, 13, reserved)
LIBRARY_TILING_ARRAY(char, 128, groupName)
LIBRARY_TILING_ARRAY(char, 128, algConfig)
LIBRARY_TILING_FIELD(uint32_t, opType)
LIBRARY_TILING_FIELD(uint32_t, reduceType)
END_LIBRARY_TILING

BEGIN_LIBRARY_TILING(Mc2InitTiling)
LIBRARY_TILING_ARRAY(uint8_t, 64, reserved)
END_LIBRARY_TILING

BEGIN_LIBRARY_TILING(Mc2CcTiling)
LIBRARY_TILING_ARRAY(uint8_t, 512, reserved)
END_LIBRARY_TILING
