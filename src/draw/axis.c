/* axis.c - chooses ticks. */
#include "draw/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- linear ---- */

/* The shortest round step that gives at most the wanted number of intervals. */
static double round_step(double length, int wanted, int *decimals)
{
    double rough = length / wanted;
    double power = pow(10, floor(log10(rough)));
    double least = rough / power - 1e-6; /* so that rounding does not double a step */
    double digit = least <= 1 ? 1 : least <= 2 ? 2 : least <= 5 ? 5 : 10;
    *decimals = (int)fmax(0, -floor(log10(digit * power) + 1e-9));
    return digit * power;
}

static void add_multiples(imp_axis *axis, int wanted)
{
    double step = round_step(axis->high - axis->low, wanted, &axis->decimals);
    double first = ceil(axis->low / step - 1e-9), last = axis->high / step + 1e-9;
    axis->tick_count = 0;
    for (double k = first; k <= last && axis->tick_count < IMP_MOST_TICKS; k++)
        axis->ticks[axis->tick_count++] = k != 0 ? k * step : 0; /* never -0 */
}

imp_axis imp_axis_linear(double low, double high, int wanted)
{
    double largest = fmax(fabs(low), fabs(high)), nothing = 1e-290;
    if (!(high - low >
          fmax(1e-12 * largest, nothing))) { /* a single value gets room on both sides */
        double room = largest > nothing ? 0.5 * largest : 0.5;
        low -= room;
        high += room;
    }
    imp_axis axis = {.low = low, .high = high};
    for (int most = 2 * wanted + 10; axis.tick_count < 2 && wanted < most; wanted++)
        add_multiples(&axis, wanted); /* the round step may be too long for two ticks */
    return axis;
}

/* ---- logarithmic ---- */

static void add_ticks(imp_axis *axis, const double *digits, size_t count, int every)
{
    int first = (int)floor(log10(axis->low)), last = (int)floor(log10(axis->high) + 1e-9);
    for (int power = first; power <= last; power++)
        for (size_t i = 0; i < count && power % every == 0; i++) {
            double tick = digits[i] * pow(10, power);
            bool inside = tick > axis->low * (1 - 1e-9) && tick < axis->high * (1 + 1e-9);
            if (inside && axis->tick_count < IMP_MOST_TICKS)
                axis->ticks[axis->tick_count++] = tick;
        }
}

imp_axis imp_axis_logarithmic(double low, double high, int wanted)
{
    static const double digits[] = {1, 2, 5};
    if (!(high > low * (1 + 1e-9))) {
        low /= 2;
        high *= 2;
    }
    imp_axis axis = {.low = low, .high = high, .logarithmic = true};
    double powers = log10(high / low);
    if (3 * powers <= wanted)
        add_ticks(&axis, digits, 3, 1);
    else
        add_ticks(&axis, digits, 1, (int)ceil(powers / wanted));
    if (axis.tick_count < 2) { /* between two powers: as on a linear axis */
        imp_axis linear = imp_axis_linear(low, high, wanted);
        memcpy(axis.ticks, linear.ticks, sizeof axis.ticks);
        axis.tick_count = linear.tick_count;
    }
    return axis;
}

/* ---- both ---- */

double imp_axis_place(const imp_axis *axis, double value)
{
    if (axis->logarithmic)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

/* Commas between the thousands. */
static imp_tick_text grouped(const char *plain)
{
    imp_tick_text grouped = {""};
    const char *point = strchr(plain, '.');
    size_t whole = point ? (size_t)(point - plain) : strlen(plain), length = 0;
    for (size_t i = 0; plain[i] && length + 2 < sizeof grouped.text; i++) {
        bool after_digit = i > 0 && plain[i - 1] != '-';
        if (after_digit && i < whole && (whole - i) % 3 == 0)
            grouped.text[length++] = ',';
        grouped.text[length++] = plain[i];
    }
    return grouped;
}

/* How many digits distinguish a tick from the next. */
static int digits_of(const imp_axis *axis)
{
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    double step = axis->tick_count > 1 ? axis->ticks[1] - axis->ticks[0] : largest;
    return 2 + (int)floor(log10(largest)) - (int)floor(log10(step) + 1e-9);
}

imp_tick_text imp_axis_text(const imp_axis *axis, size_t index)
{
    double value = axis->ticks[index];
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    imp_tick_text plain;
    double judged = axis->logarithmic ? value : largest;
    if (value != 0 && (judged < 1e-4 || judged >= 1e7)) {
        snprintf(plain.text, sizeof plain.text, "%.*g", digits_of(axis), value);
        return plain;
    }
    if (axis->logarithmic)
        snprintf(plain.text, sizeof plain.text, "%.10g", value);
    else
        snprintf(plain.text, sizeof plain.text, "%.*f", value != 0 ? axis->decimals : 0, value);
    return grouped(plain.text);
}
