package runner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/joined"
)

// keptMost bounds the answers that a Kept keeps.
const keptMost = 10_000

// Kept answers questions about one read model from memory until rows of it are written, for what every request asks and
// seldom changes. Whoever has waited for a position finds the rows of it, as in the tables. It keeps nothing while
// another program fills the tables, since of that it hears late. The zero value is ready. Safe for concurrent use.
type Kept[K comparable, V any] struct {
	reads joined.Reads[K, V]

	mu      sync.Mutex
	of      edition // of the tables that the answers are from
	answers map[K]V
}

// edition names a state of a read model's tables: another one follows with each write.
type edition struct {
	schema string
	rows   uint64
}

// edition gives that of a projection's tables; ok is false when this program does not know of each write.
func (v *Views) edition(projection string) (of edition, ok bool) {
	now := v.entry(projection).progress.look()
	return edition{schema: now.schema, rows: now.rows}, now.state == StateLive && !now.astray
}

// Of gives the answer to a question about a projection, and reads it where it is not kept. Who asks at the same time
// shares a reading (joined.Reads.Of). The answer is shared, so nobody may change it; an error is not kept.
func (k *Kept[K, V]) Of(
	ctx context.Context, v *Views, projection string, question K, read func(context.Context) (V, error),
) (V, error) {
	if of, ok := v.edition(projection); ok {
		if answer, ok := k.find(of, question); ok {
			return answer, nil
		}
	}
	return k.reads.Of(ctx, question, func(ctx context.Context) (V, error) {
		of, ok := v.edition(projection) // before the reading, which may find more
		answer, err := read(ctx)
		if ok && err == nil {
			k.keep(of, question, answer)
		}
		return answer, err
	})
}

// find looks up what is kept of an edition.
func (k *Kept[K, V]) find(of edition, question K) (answer V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == of {
		answer, ok = k.answers[question]
	}
	return answer, ok
}

// keep remembers an answer, and forgets those of other editions.
func (k *Kept[K, V]) keep(of edition, question K, answer V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != of || len(k.answers) >= keptMost {
		k.of, k.answers = of, map[K]V{}
	}
	k.answers[question] = answer
}
