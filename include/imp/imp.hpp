/*
 * imp.hpp - the library for C++17: classes that own its objects, and exceptions with its messages.
 *
 * Header-only, on top of the C functions, whose headers are the manual; all of them can also be
 * called directly, with what get() returns. The thread rules are those of the C functions.
 */
#ifndef IMP_IMP_HPP
#define IMP_IMP_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <imp/imp.h>

namespace imp
{

/* A failure of the library. Out of memory is std::bad_alloc instead. */
class error : public std::runtime_error
{
  public:
    error(imp_status status, const std::string &sentence)
        : std::runtime_error(sentence), status_(status)
    {
    }
    imp_status status() const noexcept
    {
        return status_;
    }

  private:
    imp_status status_;
};

/* Calls a function with the arguments followed by an imp_error; throws if it fails. */
template <class Function, class... Arguments> void call(Function function, Arguments &&...arguments)
{
    imp_error told = {};
    const imp_status status = function(std::forward<Arguments>(arguments)..., &told);
    if (status == IMP_ENOMEM)
        throw std::bad_alloc();
    if (status != IMP_OK)
        throw error(status, told.message);
}

/* An object of the library, freed with its owner. */
template <class Object, void (*Free)(Object *)> class owner
{
  public:
    Object *get() const noexcept
    {
        return object_.get();
    }

  protected:
    /* Calls a function whose last argument but the error receives a new object, and returns it. */
    template <class Function, class... Arguments>
    static Object *make(Function function, Arguments &&...arguments)
    {
        Object *made = nullptr;
        call(function, std::forward<Arguments>(arguments)..., &made);
        return made;
    }
    explicit owner(Object *object) : object_(object)
    {
    }

  private:
    struct release {
        void operator()(Object *object) const noexcept
        {
            Free(object);
        }
    };
    std::unique_ptr<Object, release> object_;
};

/* Points of `dimensions` floats each, row by row; does not own the memory. */
struct points {
    const float *values;
    std::size_t count, dimensions;

    points(const float *values_, std::size_t count_, std::size_t dimensions_)
        : values(values_), count(count_), dimensions(dimensions_)
    {
    }
    points(const std::vector<float> &rows, std::size_t dimensions_)
        : values(rows.data()), count(dimensions_ == 0 ? 0 : rows.size() / dimensions_),
          dimensions(dimensions_)
    {
        if (dimensions_ == 0 || rows.size() % dimensions_ != 0)
            throw error(IMP_EINVAL, std::to_string(rows.size()) + " numbers do not make rows of " +
                                        std::to_string(dimensions_));
    }
};

/* ---- classifying: mixture.h ---- */

class mixture : public owner<imp_mixture, imp_mixture_free>
{
  public:
    /* imp_mixture_fit(): a class, 0 or more, or IMP_UNLABELED for every point. */
    mixture(points x, const std::vector<std::int32_t> &labels,
            const imp_mixture_options &options = imp_mixture_defaults())
        : mixture(make(imp_mixture_fit, x.values, each(x, labels), x.count, x.dimensions, &options))
    {
    }

    static mixture load(const std::string &path)
    {
        return mixture(make(imp_mixture_load, path.c_str()));
    }
    void save(const std::string &path) const
    {
        call(imp_mixture_save, get(), path.c_str());
    }

    /* A mixture with these points, too; this one stays as it is. */
    mixture add(points x, const std::vector<std::int32_t> &labels) const
    {
        return mixture(
            make(imp_mixture_add, get(), x.values, each(x, labels), x.count, x.dimensions));
    }

    /* The class of every point; with `open_set`, IMP_UNLABELED for none of them. */
    std::vector<std::int32_t> predict(points x, bool open_set = false) const
    {
        std::vector<std::int32_t> found(x.count);
        imp_mixture_predictions wanted = {};
        wanted.label = found.data();
        call(imp_mixture_predict, get(), x.values, x.count, x.dimensions, open_set, &wanted);
        return found;
    }

    /* (points, classes) probabilities; with `open_set`, one more column. */
    std::vector<float> probabilities(points x, bool open_set = false) const
    {
        std::vector<float> found(x.count * (summary().classes + open_set));
        imp_mixture_predictions wanted = {};
        wanted.probability = found.data();
        call(imp_mixture_predict, get(), x.values, x.count, x.dimensions, open_set, &wanted);
        return found;
    }

    imp_mixture_summary summary() const noexcept
    {
        return imp_mixture_summarize(get());
    }

  private:
    explicit mixture(imp_mixture *object) : owner(object)
    {
    }
    static const std::int32_t *each(points x, const std::vector<std::int32_t> &labels)
    {
        if (labels.size() != x.count)
            throw error(IMP_EINVAL, std::to_string(x.count) + " points have " +
                                        std::to_string(labels.size()) + " labels");
        return labels.data();
    }
};

/* ---- clustering: cluster.h ---- */

class clustering : public owner<imp_clustering, imp_clustering_free>
{
  public:
    explicit clustering(points x, const imp_cluster_options &options = imp_cluster_defaults())
        : owner(make(imp_cluster, x.values, x.count, x.dimensions, &options))
    {
    }
    std::size_t clusters() const noexcept
    {
        return get()->clusters;
    }
    std::vector<std::int32_t> assignment() const
    {
        return {get()->assignment, get()->assignment + get()->points};
    }
    const imp_clustering *operator->() const noexcept
    {
        return get();
    }
};

/* ---- which point to label next: suggest.h ---- */

class suggester : public owner<imp_suggester, imp_suggester_free>
{
  public:
    explicit suggester(points x, const imp_suggester_options &options = imp_suggester_defaults())
        : owner(make(imp_suggester_create, x.values, x.count, x.dimensions, &options))
    {
    }
    void answer(std::size_t point, std::int32_t label)
    {
        call(imp_suggester_answer, get(), point, label);
    }
    std::vector<imp_suggestion> next(std::size_t count = 1) const
    {
        std::vector<imp_suggestion> found(count);
        std::size_t given = 0;
        call(imp_suggester_next, get(), count, found.data(), &given);
        found.resize(given);
        return found;
    }
};

/* ---- pictures into vectors: model.h ---- */

class model : public owner<imp_model, imp_model_free>
{
  public:
    /* The model built into the library. */
    explicit model(const imp_model_options &options = imp_model_defaults())
        : owner(make(imp_model_open, static_cast<const char *>(nullptr), &options))
    {
    }
    explicit model(const std::string &path, const imp_model_options &options = imp_model_defaults())
        : owner(make(imp_model_open, path.c_str(), &options))
    {
    }
    const imp_model_info &info() const noexcept
    {
        return *imp_model_info_of(get());
    }

    /* (paths, info().dimensions) floats. */
    std::vector<float> embed(const std::vector<std::string> &paths, int threads = 0) const
    {
        std::vector<const char *> names;
        for (const std::string &path : paths)
            names.push_back(path.c_str());
        std::vector<float> found(paths.size() * info().dimensions);
        call(imp_model_embed_files, get(), names.data(), names.size(), threads,
             static_cast<imp_file_fault *>(nullptr), static_cast<void *>(nullptr), found.data());
        return found;
    }

    /* The same for images in the form that the network takes: (count, channels, height, width)
     * floats. */
    std::vector<float> embed(const float *images, std::size_t count, int threads = 0) const
    {
        std::vector<float> found(count * info().dimensions);
        call(imp_model_embed, get(), images, count, threads, found.data());
        return found;
    }
};

/* ---- datasets and episodes: dataset.h, episode.h ---- */

class dataset : public owner<imp_dataset, imp_dataset_free>
{
  public:
    explicit dataset(const std::string &name,
                     const imp_dataset_options &options = imp_dataset_defaults())
        : owner(make(imp_dataset_open, name.c_str(), &options))
    {
    }
};

class episode
{
  public:
    episode(const dataset &from, std::uint64_t index,
            const imp_episode_options &options = imp_episode_defaults())
    {
        call(imp_episode_draw, from.get(), &options, index, &drawn_);
    }
    episode(const episode &) = delete;
    episode &operator=(const episode &) = delete;
    episode(episode &&other) noexcept : drawn_(std::exchange(other.drawn_, {}))
    {
    }
    episode &operator=(episode &&other) noexcept
    {
        std::swap(drawn_, other.drawn_);
        return *this;
    }
    ~episode()
    {
        imp_episode_clear(&drawn_);
    }

    const imp_episode *get() const noexcept
    {
        return &drawn_;
    }
    const imp_episode *operator->() const noexcept
    {
        return &drawn_;
    }

    /* (images, channels, size, size) floats. */
    std::vector<float> pixels(const dataset &from) const
    {
        const std::size_t side = imp_dataset_size(from.get());
        const std::size_t each = imp_dataset_channels(from.get()) * side * side;
        std::vector<float> found(imp_episode_size(&drawn_) * each);
        imp_episode_pixels(from.get(), &drawn_, found.data());
        return found;
    }

  private:
    imp_episode drawn_ = {};
};

} // namespace imp

#endif
