package directory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Vault has the passwords and secrets to which events refer.
type Vault interface {
	// GetAll leaves out what does not exist. With an error beside a map it leaves out what it cannot decrypt, too; a
	// nil map means that it can be asked again.
	GetAll(ctx context.Context, refs []id.Secret) (map[id.Secret][]byte, error)
}

// wish is a secret that somebody waits for.
type wish struct {
	ref id.Secret
	use func(plain []byte)
}

// wanted collects wishes. Safe for concurrent use.
type wanted struct {
	mu     *sync.Mutex
	list   *[]wish
	signal chan struct{}
}

// newWanted makes an empty collection.
func newWanted() wanted {
	return wanted{mu: &sync.Mutex{}, list: &[]wish{}, signal: make(chan struct{}, 1)}
}

// want adds a wish.
func (w wanted) want(ref id.Secret, use func(plain []byte)) {
	w.mu.Lock()
	*w.list = append(*w.list, wish{ref, use})
	w.mu.Unlock()
	loop.Wake(w.signal)
}

// take removes the oldest wishes, at most a number of them.
func (w wanted) take(limit int) []wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(limit, len(*w.list))
	taken := (*w.list)[:n:n]
	if *w.list = (*w.list)[n:]; len(*w.list) == 0 {
		*w.list = nil
	}
	return taken
}

// putBack adds wishes that could not be fulfilled, before all others.
func (w wanted) putBack(wishes []wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.list = append(wishes, *w.list...)
}

// Bounds of the loader: secrets in one query, and the pauses after a failed one.
const (
	loadBatch  = 1_000
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Loader fetches passwords and secrets for a directory. While the vault cannot be read it tries again, and the
// directory answers from what it has.
type Loader struct {
	directory *Directory
	vault     Vault
	logger    *slog.Logger
	loops     *loop.Group
}

// NewLoader makes a loader that is not started.
func NewLoader(d *Directory, v Vault, logger *slog.Logger) *Loader {
	return &Loader{directory: d, vault: v, logger: logger, loops: loop.New(logger)}
}

// Start fetches everything that the events so far refer to, and begins to follow. It fails when ctx ends before.
func (l *Loader) Start(ctx context.Context) error {
	return l.loops.Start(ctx, func(ctx context.Context) error {
		if err := l.fetchAll(ctx); err != nil {
			return err
		}
		l.loops.Go("passwords in memory", func(ctx context.Context) {
			for loop.Wait(ctx, l.directory.secrets.signal) {
				_ = l.fetchAll(ctx) // it fails at the stop only
			}
		})
		return nil
	})
}

// Stop ends following; the directory keeps its content.
func (l *Loader) Stop() { l.loops.Stop() }

// fetchAll fulfils all wishes. It fails only when ctx ends before.
func (l *Loader) fetchAll(ctx context.Context) error {
	pause := loop.Backoff{Min: minBackoff, Max: maxBackoff}
	for {
		l.directory.publish()
		wishes := l.directory.secrets.take(loadBatch)
		if len(wishes) == 0 {
			return nil
		}
		if err := l.fetch(ctx, wishes); err != nil {
			l.directory.secrets.putBack(wishes)
			if !pause.Wait(ctx) {
				return ctx.Err()
			}
			l.logger.WarnContext(ctx, "passwords cannot be read", slog.String("error", err.Error()))
			continue
		}
		pause.Reset()
	}
}

// fetch fulfils some wishes in one query. A secret that is gone leaves what is in memory: either a newer one has
// replaced it, whose event follows, or its owner was removed.
func (l *Loader) fetch(ctx context.Context, wishes []wish) error {
	refs := make([]id.Secret, len(wishes))
	for i, w := range wishes {
		refs[i] = w.ref
	}
	found, err := l.vault.GetAll(ctx, refs)
	switch {
	case found == nil && err != nil:
		return err
	case err != nil: // another try would not help these
		l.logger.ErrorContext(ctx, "passwords cannot be decrypted", slog.String("error", err.Error()))
	}
	for _, w := range wishes {
		if plain, has := found[w.ref]; has {
			w.use(plain)
		}
	}
	return nil
}
