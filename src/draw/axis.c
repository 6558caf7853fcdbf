/* axis.c - chooses ticks. */
#include "draw/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- linear ---- */

/* The round step whose ticks come closest to the wanted number from below. */
static double round_step(double length, int wanted, int *decimals)
{
    double rough = length / wanted;
    double power = pow(10, floor(log10(rough)));
    double digit = rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10;
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
    double smallest = 1e-12 * fmax(fabs(low), fabs(high));
    if (!(high - low > smallest)) { /* one value alone: it gets room on both sides */
        double room = low != 0 ? 0.5 * fabs(low) : 0.5;
        low -= room;
        high += room;
    }
    imp_axis axis = {.low = low, .high = high};
    while (axis.tick_count < 2) /* the round step may prove too long */
        add_multiples(&axis, wanted++);
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

imp_tick_text imp_axis_text(const imp_axis *axis, size_t index)
{
    enum { MOST_DECIMALS = 5 };
    double value = axis->ticks[index];
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    imp_tick_text plain;
    bool exponents = axis->logarithmic ? value < 1e-4 || value >= 1e7
                                       : axis->decimals > MOST_DECIMALS || largest >= 1e7;
    if (exponents && value != 0) {
        snprintf(plain.text, sizeof plain.text, "%g", value);
        return plain;
    }
    if (axis->logarithmic)
        snprintf(plain.text, sizeof plain.text, "%.10g", value);
    else
        snprintf(plain.text, sizeof plain.text, "%.*f", value != 0 ? axis->decimals : 0, value);
    return grouped(plain.text);
}
