package identityapi

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Times of the uses: the pause between two looks for those that wait to be written, what the last look of a stopping
// program may take, and how long a key is remembered whose use is written.
const (
	usesLook   = 15 * time.Second
	usesFlush  = time.Second
	usesMemory = time.Hour
)

// KeyUses notes when each API key was used last and from where. It writes for each key at most once in
// vault.APIKeyUsePause, and beside the requests: a request with a key does not wait for it. Uses that are not written
// are lost with a program that is killed. Safe for concurrent use.
type KeyUses struct {
	to     *vault.APIKeys
	clock  clock.Clock
	logger *slog.Logger
	loops  *loop.Group
	wake   chan struct{}

	mu   sync.Mutex
	last map[id.APIKey]*keyUse
}

// keyUse is the last use of a key in this program.
type keyUse struct {
	at      time.Time
	ip      string
	waits   bool      // it is not written yet
	written time.Time // when a use of the key was written last
}

// due reports whether the use may be written; at once when the clock was put back.
func (u *keyUse) due(now time.Time) bool {
	gone := now.Sub(u.written)
	return u.waits && (gone < 0 || gone >= vault.APIKeyUsePause)
}

// NewKeyUses makes a KeyUses that keeps uses in memory until it is started.
func NewKeyUses(to *vault.APIKeys, c clock.Clock, logger *slog.Logger) *KeyUses {
	return &KeyUses{
		to: to, clock: c, logger: logger, loops: loop.New(logger), wake: make(chan struct{}, 1),
		last: map[id.APIKey]*keyUse{},
	}
}

// Start begins to write; it never fails.
func (u *KeyUses) Start(ctx context.Context) error {
	return u.loops.Start(ctx, func(context.Context) error {
		u.loops.Go("uses of API keys", func(ctx context.Context) {
			for loop.Wait(ctx, u.wake) {
				u.write(ctx, (*keyUse).due)
			}
		})
		u.loops.Go("uses of API keys that wait", func(ctx context.Context) {
			for loop.SleepFor(ctx, u.clock, usesLook) {
				u.write(ctx, (*keyUse).due)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usesFlush)
			defer cancel()
			u.write(last, func(use *keyUse, _ time.Time) bool { return use.waits })
		})
		return nil
	})
}

// Stop writes the uses that wait, and ends.
func (u *KeyUses) Stop() { u.loops.Stop() }

// Note notes a use at this moment.
func (u *KeyUses) Note(key id.APIKey, ip string) {
	now := u.clock.Now()
	u.mu.Lock()
	use, ok := u.last[key]
	if !ok {
		use = &keyUse{}
		u.last[key] = use
	}
	use.at, use.ip, use.waits = now, ip, true
	due := use.due(now)
	u.mu.Unlock()
	if due {
		loop.Wake(u.wake)
	}
}

// write writes the uses that are chosen. Those that cannot be written wait for the next look, which tries them again.
func (u *KeyUses) write(ctx context.Context, chosen func(use *keyUse, now time.Time) bool) {
	now := u.clock.Now()
	var list []vault.APIKeyUse
	u.mu.Lock()
	for key, use := range u.last {
		switch {
		case chosen(use, now):
			list = append(list, vault.APIKeyUse{KeyID: key, At: use.at, IP: use.ip})
			use.waits, use.written = false, now
		case !use.waits && now.Sub(use.written) > usesMemory: // keys come and go; those that are used come back
			delete(u.last, key)
		}
	}
	u.mu.Unlock()
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b vault.APIKeyUse) int { return slices.Compare(a.KeyID[:], b.KeyID[:]) })
	if err := u.to.Used(ctx, list); err != nil {
		u.mu.Lock()
		for _, one := range list {
			if use, ok := u.last[one.KeyID]; ok {
				use.waits = true
			}
		}
		u.mu.Unlock()
		u.logger.LogAttrs(ctx, slog.LevelWarn, "uses of API keys not written", slog.Int("keys", len(list)),
			slog.String("error", err.Error()))
	}
}

// Latest gives the last use of some keys, as it was written by any program, or as this one has seen it since.
func (u *KeyUses) Latest(ctx context.Context, keys []id.APIKey) (map[id.APIKey]vault.APIKeyUse, error) {
	uses, err := u.to.Uses(ctx, keys)
	if err != nil {
		return nil, err
	}
	seen := map[id.APIKey]vault.APIKeyUse{}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		if use, ok := u.last[key]; ok && use.at.After(uses[key].At) {
			seen[key] = vault.APIKeyUse{KeyID: key, At: use.at, IP: use.ip}
		}
	}
	maps.Copy(uses, seen)
	return uses, nil
}
