package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Config has the parts that a bus works with. Fields that name a default may be zero.
type Config struct {
	Store *eventstore.Store
	// Claims returns the key of a unique value, an HMAC: docs/rules/engine.md#claims. It is the vault's ClaimKey.
	Claims func(kind, value string) uuid.UUID
	Clock  clock.Clock
	Logger *slog.Logger // default: slog.Default

	PeriodLength   int           // number of events at which a stream is closed into its next period; default 1,000
	CachedStreams  int           // number of folded states in memory, for each category; default 2,048
	ClaimPatience  time.Duration // age at which a claim that no state uses is free for others; default 60 s
	AppendPatience time.Duration // time for which an append of unknown outcome is repeated; default 10 s
}

// Defaults of Config.
const (
	defaultPeriodLength   = 1000
	defaultCachedStreams  = 2048
	defaultClaimPatience  = time.Minute
	defaultAppendPatience = 10 * time.Second
)

// withDefaults sets the fields that are zero.
func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.PeriodLength == 0 {
		c.PeriodLength = defaultPeriodLength
	}
	if c.CachedStreams == 0 {
		c.CachedStreams = defaultCachedStreams
	}
	if c.ClaimPatience == 0 {
		c.ClaimPatience = defaultClaimPatience
	}
	if c.AppendPatience == 0 {
		c.AppendPatience = defaultAppendPatience
	}
	return c
}

// Bus executes commands. It is safe for concurrent use after all aggregates are registered.
type Bus struct {
	cfg        Config
	categories map[string]category
	states     map[reflect.Type]any  // a reader[S] for each registered state S
	stored     map[string]storedType // every registered command, by its name
	locks      locks
	settled    *lru.Cache[id.Event, struct{}] // takings of claims that are used
}

// New makes a bus that knows only claims; register all aggregates before its first use.
func New(cfg Config) *Bus {
	b := &Bus{
		cfg:        cfg.withDefaults(),
		categories: make(map[string]category),
		states:     make(map[reflect.Type]any),
		stored:     make(map[string]storedType),
		locks:      locks{held: make(map[string]*lock)},
		settled:    newSettled(),
	}
	b.categories[commands.ClaimCategory] = claimKeeper{b}
	b.store(commands.ReleaseUnusedClaim{})
	return b
}

// Now is the instant with which commands are decided, in UTC.
func (b *Bus) Now() time.Time { return b.cfg.Clock.Now() }

// category is a registered aggregate, without its types.
type category interface {
	// attempt executes a command once: on the state in memory or, at the latest, on the stream as it is now.
	attempt(ctx context.Context, x *execution) (Result, error)
	// abandon releases the claims of a command that lost too many races.
	abandon(ctx context.Context, x *execution)
	// holds reports whether the state of an aggregate has a claim with this key.
	holds(ctx context.Context, owner id.Any, key uuid.UUID) (bool, error)
}

// execution is one command during all its attempts.
type execution struct {
	cmd     commands.Command
	meta    commands.Meta
	taken   []heldClaim // claims that this execution took and has not released
	claimed bool        // an attempt has taken claims, or tried to
	// takings are the newest events by which this execution took claims, by their keys.
	takings map[uuid.UUID]id.Event
	nonce   string // makes the ids of its events differ from those of another execution of the same command

	until time.Time // from which on the present decision is not sent; zero = never

	read       bool // the state was read from the log; retries read it again
	fromMemory bool // the present attempt decides on a state in memory
}

// Retries after a lost race. The pause doubles each time and is up to twice as long by chance.
const (
	conflictRetries = 3
	conflictPause   = 5 * time.Millisecond
)

// Execute lets the command's aggregate decide, and appends the events of the decision. A command id acts once: a
// repeated call returns the first outcome. It fails as Validate and Decide do, and with not_found (another
// organization's aggregate), organization_required, stale_revision, concurrent_change, a claim's own code, and
// eventstore_unavailable (the outcome is unknown: repeat with the same command id).
func (b *Bus) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (Result, error) {
	target := cmd.Target()
	c, ok := b.categories[target.Category]
	switch {
	case !ok:
		return Result{}, fmt.Errorf("execute %s: no aggregate %q is registered", cmd.CommandName(), target.Category)
	case target.ID.IsZero():
		return Result{}, failure.NewInvalid("invalid_input", "id is required")
	}
	if err := checkMeta(cmd.CommandName(), meta); err != nil {
		return Result{}, err
	}
	if err := cmd.Validate(); err != nil {
		return Result{}, err
	}
	unlock, err := b.locks.acquire(ctx, target.Stream())
	if err != nil {
		return Result{}, fmt.Errorf("execute %s: %w", cmd.CommandName(), err)
	}
	defer unlock()
	result, err := b.execute(ctx, c, &execution{cmd: cmd, meta: meta, nonce: uuid.NewString()})
	if err != nil && failure.KindOf(err) == failure.Internal {
		return Result{}, fmt.Errorf("execute %s %s: %w", cmd.CommandName(), meta.CommandID, err)
	}
	return result, err
}

// execute repeats attempts until the command is accepted or refused, or too many races are lost. After a lost race, the
// next attempt of a command with an If-Match sees the other event and fails with stale_revision.
func (b *Bus) execute(ctx context.Context, c category, x *execution) (Result, error) {
	for lost := 0; ; lost++ {
		result, err := c.attempt(ctx, x)
		if !errors.Is(err, eventstore.ErrWrongRevision) {
			return result, err
		}
		if lost == conflictRetries {
			c.abandon(ctx, x)
			b.cfg.Logger.Warn("command lost too many races", "command", x.cmd.CommandName(), "command_id",
				x.meta.CommandID.String(),
				"stream", x.cmd.Target().Stream())
			return Result{}, ErrConcurrentChange()
		}
		pause := conflictPause<<lost + rand.N(conflictPause<<lost)
		if !loop.Sleep(ctx, pause) {
			return Result{}, ctx.Err()
		}
	}
}

// ErrConcurrentChange is the failure of a command that lost too many races.
func ErrConcurrentChange() error {
	return failure.NewConflict("concurrent_change",
		"Somebody else changed this at the same time. Please try again.")
}

// ErrStale is the failure of an If-Match that names another revision, or that was sent for an answer without ETag.
func ErrStale() error {
	return failure.New(failure.Stale, "stale_revision",
		"This was changed since it was read. Read it again and send its new ETag, if it has one.")
}

// append repeats an append of unknown outcome for AppendPatience. A repeated append is safe, because the store appends
// the same event ids only once.
func (b *Bus) append(
	ctx context.Context, stream string, expected eventstore.Expected, list []eventstore.New,
) (eventstore.Appended, error) {
	return b.repeat(ctx, stream, func(ctx context.Context) (eventstore.Appended, error) {
		return b.cfg.Store.Append(ctx, stream, expected, list)
	})
}

// repeat is append with a way to do it. When a repeat fails in another way than before, the outcome is unknown still,
// unless the stream is found at another revision: then the log tells.
func (b *Bus) repeat(
	ctx context.Context, stream string, do func(context.Context) (eventstore.Appended, error),
) (eventstore.Appended, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.AppendPatience)
	defer cancel()
	pause := loop.Backoff{Min: conflictPause, Max: time.Second}
	for unknown := error(nil); ; {
		done, err := do(ctx)
		switch {
		case err == nil, errors.Is(err, eventstore.ErrWrongRevision), errors.Is(err, eventstore.ErrClosed):
			return done, err
		case errors.Is(err, eventstore.ErrUnavailable):
			unknown = err
		case unknown != nil:
			return done, fmt.Errorf("%w; then: %v", unknown, err) //nolint:errorlint // it decides nothing
		default:
			return done, err
		}
		b.cfg.Logger.Warn("append repeated after unknown outcome", "stream", stream, "error", err)
		if !pause.Wait(ctx) {
			return done, err
		}
	}
}

// appendUntil is append that sends nothing from an instant on; zero = never. When it is too late at once, it fails with
// ErrWrongRevision, which leads to another decision. What was sent and has no answer by then has an unknown outcome.
func (b *Bus) appendUntil(
	ctx context.Context, until time.Time, stream string, expected eventstore.Expected,
	list []eventstore.New,
) (eventstore.Appended, error) {
	if until.IsZero() {
		return b.append(ctx, stream, expected, list)
	}
	left := until.Sub(b.cfg.Clock.Now())
	if left <= 0 {
		return eventstore.Appended{}, eventstore.ErrWrongRevision
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return b.append(ctx, stream, expected, list)
}

// outcomeUnknown reports whether the append may have happened in spite of the error.
func outcomeUnknown(err error) bool {
	return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}
