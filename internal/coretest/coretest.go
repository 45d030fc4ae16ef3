// Package coretest gives tests the platform without its edges: a real event log with a bus, and on demand a vault,
// read models and processes. It also has the requests and checks that tests of use cases share.
package coretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Kit is an event log with a bus on it. The test registers the aggregates that it needs. A kit is for one goroutine;
// its parts are safe for concurrent use.
type Kit struct {
	*storetest.Kit
	Bus   *bus.Bus
	Vault *vault.Vault // nil unless NewWithVault made the kit

	clock  clock.Clock
	feed   *feed.Feed // nil until something reads from it
	models []runner.Projection
}

// New starts a kit without a vault; it stops with the test. c is the clock of the bus, the read models and the
// processes. The kit's database is a copy in which the tables of all engines and of the read models are there, which
// Show then fills.
func New(t testing.TB, c clock.Clock, models ...runner.Projection) *Kit {
	t.Helper()
	return on(storetest.On(t, templateOf(models).New(t)), c, storetest.ClaimKey, models)
}

// NewWithVault is New with a vault, which also makes the keys of unique values. cfg.Clock is the clock of all parts.
// What OpenVault says about cfg holds here; the kit sets DB.
func NewWithVault(t testing.TB, cfg vault.Config, models ...runner.Projection) *Kit {
	t.Helper()
	store := storetest.On(t, templateOf(models).New(t))
	cfg.DB = store.DB
	v := OpenVault(t, cfg)
	k := on(store, cfg.Clock, v.ClaimKey, models)
	k.Vault = v
	return k
}

// on makes a kit of a store that runs.
func on(
	store *storetest.Kit, c clock.Clock, claims func(kind, value string) uuid.UUID, models []runner.Projection,
) *Kit {
	return &Kit{
		Kit: store, clock: c, models: models,
		Bus: bus.New(bus.Config{Store: store.Store, Claims: claims, Clock: c, Logger: storetest.Quiet()}),
	}
}

// SetPassword gives a user a password, in place of one that the user may have. Sessions go on.
func SetPassword(t testing.TB, v *vault.Vault, user id.User, password secrets.Text) {
	t.Helper()
	hash, err := v.Passwords.Hash(t.Context(), id.Organization{}, password)
	if err == nil {
		err = v.Passwords.Replace(t.Context(), user, hash, vault.Revocation{})
	}
	if err != nil {
		t.Fatalf("set password: %v", err)
	}
}

// vaults is a template of databases with the tables of a vault alone.
var vaults = pgtest.NewTemplate(prepareVault)

// NewVault is OpenVault on a database of its own.
func NewVault(t testing.TB, cfg vault.Config) *vault.Vault {
	t.Helper()
	cfg.DB = vaults.New(t)
	return OpenVault(t, cfg)
}

// OpenVault opens a vault under a key that all tests share. Where cfg.Argon2 is zero, hashes are cheap and unsafe.
func OpenVault(t testing.TB, cfg vault.Config) *vault.Vault {
	t.Helper()
	if cfg.Argon2 == (vault.Argon2{}) {
		cfg.Argon2 = vault.Argon2{MemoryKiB: 64, Passes: 1, Threads: 1}
	}
	cfg.Keyring = keyring()
	v, err := vault.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	return v
}

// keyring has the key of all vaults of tests.
func keyring() *secrets.Keyring {
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize))
	if err != nil {
		panic(err)
	}
	return ring
}

// Service is a part that runs in the background, such as a feed or a runner.
type Service interface {
	Start(ctx context.Context) error
	Stop()
}

// Start starts a service and stops it at the end of the test, before all that was started earlier. name is for the
// message when it does not start.
func Start(t testing.TB, name string, s Service) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(s.Stop)
}

// Feed is the kit's feed of the log. The first call starts it.
func (k *Kit) Feed(t testing.TB) *feed.Feed {
	t.Helper()
	if k.feed == nil {
		k.feed = feed.New(feed.FromStore(k.Store), storetest.Quiet())
		Start(t, "feed", k.feed)
	}
	return k.feed
}

// Show starts a runner with the kit's read models and with further ones, whose tables it makes.
func (k *Kit) Show(t testing.TB, more ...runner.Projection) *runner.Views {
	t.Helper()
	r := runner.New(k.reading(t))
	r.Register(k.models...)
	r.Register(more...)
	Start(t, "read models", r)
	return r.Views()
}

// Memory makes the filler of a model in memory, not started.
func (k *Kit) Memory(t testing.TB, model runner.MemoryModel) *runner.Memory {
	t.Helper()
	return runner.NewMemory(model, k.reading(t))
}

// reading is the configuration of those who follow the kit's log.
func (k *Kit) reading(t testing.TB) runner.Config {
	t.Helper()
	return runner.Config{Feed: k.Feed(t), DB: k.DB, Clock: k.clock, Logger: storetest.Quiet(), Patience: waittest.Limit}
}

// again is the pause before a read model is asked again that says at once that it has stopped.
const again = 10 * time.Millisecond

// WaitFor waits until each of the named read models shows a position of the log, for longer than a request would; a
// failure ends the test.
func WaitFor(t testing.TB, views *runner.Views, position uint64, names ...string) {
	t.Helper()
	if err := Shows(t.Context(), views, position, names...); err != nil {
		t.Fatal(err)
	}
}

// Shows is WaitFor for those who have no test at hand.
func Shows(ctx context.Context, views *runner.Views, position uint64, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit)
	defer cancel()
	for _, name := range names {
		err := views.WaitFor(ctx, name, position)
		for errors.Is(err, runner.ErrBehind) && loop.Sleep(ctx, again) {
			err = views.WaitFor(ctx, name, position)
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
	}
	return nil
}

// WaitForAll is WaitFor with the present end of the log.
func (k *Kit) WaitForAll(t testing.TB, views *runner.Views, names ...string) {
	t.Helper()
	head, err := k.Store.Head(t.Context())
	if err != nil {
		t.Fatalf("end of the log: %v", err)
	}
	WaitFor(t, views, head, names...)
}

// Run executes a command; a failure ends the test.
func (k *Kit) Run(t testing.TB, meta commands.Meta, c commands.Command) bus.Result {
	t.Helper()
	done, err := k.Bus.Execute(t.Context(), c, meta)
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done
}
