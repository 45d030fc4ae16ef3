package paymentsjobs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Bounds of the callbacks that wait on the disk (docs/rules/payments.md#kept-on-the-disk). A callback takes about 1
// KiB.
const (
	keptLimit = 64 << 20
	// strangersShare is the part of it for callbacks without a token that this program knows: one quarter.
	strangersShare = keptLimit / 4
	// mostOfToken and mostOfSender are how many callbacks one token, and one address without a known token, may have
	// there at the same time. The provider's own addresses send for many and may have ten times as many.
	mostOfToken, mostOfSender, providerShare = 20_000, 1_000, 10
)

// Journals of kept callbacks. Programs that share a directory have one each.
const (
	keptName     = "callbacks"
	keyName      = "kept.key"
	keptJournals = 16
	keptSegment  = 4 << 20
)

// errKeptFull refuses callbacks beyond the bounds.
var errKeptFull = errors.New("too many callbacks wait on the disk")

// Times of the way into the inbox.
const (
	keptRound  = time.Second // between two looks while callbacks wait
	adoptRound = time.Minute // between two searches for what other programs have left behind
	keptPage   = 100         // callbacks that are taken from the disk at once
	// storePatience bounds the try to store a callback in the inbox; then it is kept on the disk.
	storePatience = 5 * time.Second
	// rememberedTokens of each kind are read at the start.
	rememberedTokens = 100_000
)

// KeptConfig has what Kept needs. Every field is required.
type KeptConfig struct {
	Dir  string           // DATA_DIR
	Ring *secrets.Keyring // seals what waits
	// Allowed are the provider's addresses, as in Receiver.
	Allowed []netip.Prefix
	// Written reports whether the database takes writes, as far as is known. It is not called before Serve.
	Written func() bool
	// Limits count the callbacks of a minute; they must work without the database.
	Limits vault.Limiter
	// PerMinute is RATE_LIMIT_WEBHOOK; 0 = no limit.
	PerMinute int
	Clock     clock.Clock
	Logger    *slog.Logger
}

// Kept keeps callbacks on the disk while the inbox cannot be written, and stores them in it afterwards, in their order.
// After Open it takes callbacks, also before the database is there; after Serve and Start it stores them. Safe for
// concurrent use.
type Kept struct {
	cfg      KeptConfig
	receiver Receiver                              // without this Kept; zero before Serve
	tokens   atomic.Pointer[vault.CallbackSecrets] // nil before Serve: no token is known
	logger   *slog.Logger
	loops    *loop.Group
	file     *journal.Queue
	path     string
	ran      bool // a program has run here before, with this platform key
	wake     chan struct{}

	ever    atomic.Int64 // callbacks that were ever on the disk, since the start
	mu      sync.Mutex
	sources map[string]int // callbacks on the disk, by source, since none was there
}

// keptCallback is a callback as the disk has it, sealed: the address and the body are personal, and the token is
// secret.
type keptCallback struct {
	ID         uuid.UUID `json:"id"` // in the inbox
	Kind       string    `json:"kind"`
	Token      string    `json:"token,omitempty"`
	IP         string    `json:"ip"`
	ReceivedAt time.Time `json:"receivedAt"`
	Body       []byte    `json:"body"`
}

// NewKept makes a keeper, which needs no database before Serve.
func NewKept(cfg KeptConfig) *Kept {
	return &Kept{
		cfg: cfg, logger: cfg.Logger, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1),
		sources: map[string]int{},
	}
}

// Serve names the receiver whose inbox gets the callbacks. It comes once, before Start; the receiver names the keeper
// afterwards in its field Kept.
func (k *Kept) Serve(r Receiver) {
	k.receiver = r
	k.tokens.Store(r.Workers.cfg.Addresses.Tokens)
}

// Start learns the present tokens and begins to store what waits.
func (k *Kept) Start(ctx context.Context) error {
	return k.loops.Start(ctx, func(ctx context.Context) error {
		tokens := k.receiver.Workers.cfg.Addresses.Tokens
		for _, kind := range []string{TokenPaybill, TokenPrompt} {
			if err := tokens.Remember(ctx, kind, rememberedTokens); err != nil {
				return err
			}
		}
		if !k.ran { // the vault was opened with the key, so it is right
			if err := os.WriteFile(k.proof(), vault.SealKept(k.cfg.Ring, []byte(keyName)), 0o600); err != nil {
				return fmt.Errorf("callbacks on the disk: %w", err)
			}
		}
		k.loops.Go("kept callbacks", k.work)
		return nil
	})
}

// Stop ends the work. What waits is stored after the next start.
func (k *Kept) Stop() {
	k.loops.Stop()
	if k.file != nil {
		k.file.Close()
	}
}

// name gives the directory of the n-th journal, n from 0 on.
func (k *Kept) name(n int) string {
	if n == 0 {
		return filepath.Join(k.cfg.Dir, keptName)
	}
	return filepath.Join(k.cfg.Dir, fmt.Sprintf("%s-%d", keptName, n+1))
}

// Open opens the first journal that no other program has. It comes once, before everything else, and fails when the
// disk does not take one. Stop closes it.
func (k *Kept) Open(ctx context.Context) error {
	for n := range keptJournals {
		file, err := k.journal(ctx, k.name(n))
		switch {
		case errors.Is(err, journal.ErrTaken):
			continue
		case err != nil:
			return fmt.Errorf("callbacks on the disk: %w", err)
		}
		k.file, k.path = file, k.name(n)
		if proof, err := os.ReadFile(k.proof()); err == nil {
			_, err = vault.OpenKept(k.cfg.Ring, proof)
			k.ran = err == nil
		}
		k.ever.Add(int64(file.Len()))
		return nil
	}
	return fmt.Errorf("callbacks on the disk: %d programs use %s", keptJournals, k.cfg.Dir)
}

// journal opens the journal in a directory.
func (k *Kept) journal(ctx context.Context, dir string) (*journal.Queue, error) {
	return journal.OpenQueue(ctx, journal.Config{Dir: dir, Segment: keptSegment, Logger: k.logger})
}

// Ran reports whether a program has run with this directory and this platform key before. Only then are callbacks kept
// while the program starts: what is sealed under a key that does not fit the database cannot be read again.
func (k *Kept) Ran() bool { return k.ran }

// proof is the path of a file that is sealed under the platform key of the last start that found the key to be right.
func (k *Kept) proof() string { return filepath.Join(k.cfg.Dir, keyName) }

// Len is the number of callbacks that wait on the disk.
func (k *Kept) Len() int { return k.file.Len() }

// Ever is the number of callbacks that have waited on the disk since the start; it only grows.
func (k *Kept) Ever() int64 { return k.ever.Load() }

// Empty reports whether no callback waits on the disk.
func (k *Kept) Empty() bool { return k.file.Empty() }

// Receive keeps a callback that tells of money while the program starts, and gives the answer (Receiver.Receive).
// Fails: source_not_allowed, rate_limited, malformed_callback, callback_not_kept.
func (k *Kept) Receive(ctx context.Context, kind, token, ip string, body []byte) (any, error) {
	if _, err := allowed(k.cfg.Allowed, ip); err != nil {
		return nil, err
	}
	callback, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("keep callback: %w", err)
	}
	err = k.keep(ctx, keptCallback{
		ID: callback, Kind: kind, Token: token, IP: ip, ReceivedAt: k.cfg.Clock.Now(), Body: body,
	})
	if err != nil {
		return nil, err
	}
	return acknowledged(kind, body)
}

// keep writes a callback through to the disk. Fails: rate_limited, callback_not_kept.
func (k *Kept) keep(ctx context.Context, c keptCallback) error {
	source, err := k.admit(ctx, c)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keep callback: %w", err)
	}
	k.ever.Add(1) // before it can be taken
	if err := k.file.Append(vault.SealKept(k.cfg.Ring, plain)); err != nil {
		return notKept(err)
	}
	k.mu.Lock()
	k.sources[source]++
	k.mu.Unlock()
	k.logger.WarnContext(ctx, "callback waits on the disk for the database", "callback_id", c.ID, "kind", c.Kind)
	loop.Wake(k.wake)
	return nil
}

// admit judges without the database whether a callback may be kept, and gives the source for which it counts: the token
// in its address if this program knows that, otherwise the sender.
func (k *Kept) admit(ctx context.Context, c keptCallback) (string, error) {
	most, source := mostOfToken, ""
	if tokens := k.tokens.Load(); tokens != nil && tokens.Known(secrets.Text(c.Token)) {
		source = fmt.Sprintf("token %x", sha256.Sum256([]byte(c.Token)))
	} else {
		share := 1
		if len(k.cfg.Allowed) > 0 {
			share = providerShare
		}
		most, source = mostOfSender*share, "address "+c.IP
		if k.file.Bytes() >= strangersShare {
			return "", notKept(errKeptFull)
		}
		if k.cfg.PerMinute > 0 {
			ok, wait, err := k.cfg.Limits.Allow(ctx, "kept:"+source, k.cfg.PerMinute*share, time.Minute)
			if err != nil {
				return "", err
			}
			if !ok {
				return "", failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sources[source] >= most || k.file.Bytes() >= keptLimit {
		return "", notKept(errKeptFull)
	}
	return source, nil
}

// notKept answers a callback that neither the database nor the disk took.
func notKept(cause error) error {
	return failure.NewUnavailable("callback_not_kept", "The callback cannot be stored. Please send it again.",
		5*time.Second, cause)
}

// work stores what waits until ctx ends: after Start, when a callback was kept, and every keptRound until all are
// stored.
func (k *Kept) work(ctx context.Context) {
	pause := loop.Backoff{Min: keptRound, Max: awayPauseMax}
	for ctx.Err() == nil {
		k.adopt(ctx)
		if !k.Empty() && !k.cfg.Written() {
			loop.Sleep(ctx, keptRound)
			continue
		}
		if err := k.store(ctx); err != nil && ctx.Err() == nil {
			k.logger.WarnContext(ctx, "callbacks on the disk are not stored", "waiting", k.Len(), "error", err)
			pause.Wait(ctx)
			continue
		}
		pause.Reset()
		loop.WaitFor(ctx, k.wake, adoptRound)
	}
}

// store stores all callbacks that wait in the inbox, in their order, and forgets each afterwards. A repeat after a kill
// changes nothing, because each has its id in the inbox since it was received.
func (k *Kept) store(ctx context.Context) error {
	for ctx.Err() == nil && !k.file.Empty() {
		records, places, err := k.file.Next(keptPage)
		if err != nil {
			return err
		}
		for _, sealed := range records {
			if err := k.storeOne(ctx, sealed); err != nil {
				return err
			}
		}
		if err := k.file.Taken(places); err != nil {
			return err
		}
		k.receiver.Inbox.Wake()
		if k.file.Empty() {
			k.mu.Lock()
			clear(k.sources)
			k.mu.Unlock()
		}
	}
	return ctx.Err()
}

// storeOne stores one callback. One that was changed on the disk is left out, with a line in the log; one under a key
// that the program was not given waits, with all behind it.
func (k *Kept) storeOne(ctx context.Context, sealed []byte) error {
	leave, err := k.receiver.Workers.cfg.Gate.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	plain, err := vault.OpenKept(k.cfg.Ring, sealed)
	var c keptCallback
	if err == nil {
		err = json.Unmarshal(plain, &c)
	}
	if errors.Is(err, secrets.ErrUnknownKey) {
		return fmt.Errorf("read callback from the disk: %w", err)
	}
	if err != nil {
		k.logger.ErrorContext(ctx, "callback on the disk cannot be read", "error", err)
		return nil
	}
	s, err := k.receiver.identify(ctx, c.Kind, c.Token, c.IP)
	if failure.KindOf(err) == failure.Denied { // the list of allowed addresses was changed meanwhile
		k.logger.ErrorContext(ctx, "callback on the disk is from an address that is not allowed", "callback_id", c.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return k.receiver.store(ctx, c, s)
}

// adopt takes over what programs that are gone have left on the disk.
func (k *Kept) adopt(ctx context.Context) {
	now, cancel := context.WithCancel(ctx)
	cancel() // what another program has is left alone at once
	for n := range keptJournals {
		err := k.moveOld(now, k.name(n)+oldKeptSuffix)
		if path := k.name(n); path != k.path && err == nil {
			err = k.moveAll(now, path)
		}
		if err != nil && !errors.Is(err, journal.ErrTaken) {
			k.logger.WarnContext(ctx, "callbacks of another program are not taken over", "error", err)
		}
	}
}

// moveAll appends all callbacks of another journal, if there is one, to that of this program.
func (k *Kept) moveAll(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	from, err := k.journal(ctx, path)
	if err != nil {
		return err
	}
	defer from.Close()
	for !from.Empty() {
		records, places, err := from.Next(keptPage)
		if err == nil {
			err = k.move(records)
		}
		if err == nil {
			err = from.Taken(places)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// move appends callbacks of another program.
func (k *Kept) move(records [][]byte) error {
	for page := range slices.Chunk(records, keptPage) {
		k.ever.Add(int64(len(page))) // before they can be taken
		if err := k.file.Append(page...); err != nil {
			return err
		}
	}
	return nil
}
