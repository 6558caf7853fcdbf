/*
 * mixture.cpp - the library from C++: classifies, clusters and suggests points, and embeds an
 * episode.
 *
 * Last line: refused, with IMP_EINVAL
 */
#include <cmath>
#include <cstdio>
#include <imp/imp.hpp>

int main()
{
    const std::vector<float> x = {0, 0, 1, 2, 60, 0, 61, 2, 30, 16, 31, 18};
    const imp::points points(x, 2);

    const imp::mixture mixture(points, {0, 0, 0, 0, 1, 1}); // class 0 lies in two places
    const imp::mixture grown = mixture.add({{0, 90, 1, 91}, 2}, {2, 2});
    for (std::int32_t label : grown.predict({{2, 1, 59, 1, 30, 17, 1, 89}, 2}))
        std::printf("class %d\n", (int)label);
    std::printf("%zu classes before, %zu after; %zu probabilities\n", mixture.summary().classes,
                grown.summary().classes, grown.probabilities(points).size());
    grown.save("mixture.safetensors");
    std::printf("%zu from the file\n", imp::mixture::load("mixture.safetensors").summary().classes);

    imp_cluster_options options = imp_cluster_defaults();
    options.clusters = 3;
    const imp::clustering clustering(points, options);
    std::printf("%zu clusters of %zu points\n", clustering.clusters(),
                clustering.assignment().size());

    imp::suggester suggester(points);
    const std::size_t first = suggester.next().at(0).point;
    suggester.answer(first, 0);
    std::printf("after point %zu comes point %zu\n", first, suggester.next().at(0).point);

    imp_dataset_options glyphs = imp_dataset_defaults();
    glyphs.glyphs.alphabets = 10;
    glyphs.size = 28;
    const imp::dataset dataset("glyphs", glyphs);
    imp::episode episode(dataset, 7);
    episode = imp::episode(dataset, 8);
    const imp::model model;
    const std::vector<float> pixels = episode.pixels(dataset);
    const std::vector<float> vectors = model.embed(pixels.data(), imp_episode_size(episode.get()));
    std::printf("episode %d: %zu supports, %zu numbers\n", (int)episode->index, episode->supports,
                vectors.size());

    try {
        grown.predict({{0, NAN}, 2});
    } catch (const imp::error &refused) {
        std::puts(refused.what());
        std::printf("refused, with %s\n", imp_status_name(refused.status()));
    }
}
