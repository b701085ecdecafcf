// All element-wise mathematical functions.
#ifndef ASCENDC_ADV_MATH_H
#define ASCENDC_ADV_MATH_H

#include "ascendc/adv/elementwise.h"
#include "ascendc/adv/error_function.h"
#include "ascendc/adv/hyperbolic.h"
#include "ascendc/adv/inverse_trigonometry.h"
#include "ascendc/adv/logarithm.h"
#include "ascendc/adv/power.h"
#include "ascendc/adv/rounding.h"
#include "ascendc/adv/trigonometry.h"

#endif
