package paymentsjobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/placename"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Journals of kept callbacks. Programs that share a directory have one each.
const (
	keptName     = "callbacks"
	keptJournals = 16
	keptSegment  = 4 << 20
)

// Times of the way into the inbox.
const (
	keptRound  = time.Second // between two looks while callbacks wait
	adoptRound = time.Minute // between two searches for what other programs have left behind
	keptPage   = 100         // callbacks that are taken from the disk at once
	// storePatience bounds the try to store a callback in the inbox; then it is kept on the disk.
	storePatience = 5 * time.Second
	// rememberedTokens of each kind are read at the start, and newTokens of shortcodes every adoptRound.
	rememberedTokens, newTokens = 100_000, 100
)

// KeptConfig has what Kept needs. Every field is required.
type KeptConfig struct {
	Dir  string           // DATA_DIR
	Ring *secrets.Keyring // seals what waits
	// Allowed are the provider's addresses, as in Receiver.
	Allowed []netip.Prefix
	// Written reports whether the database takes writes, as far as is known. It is not called before Serve.
	Written func() bool
	// Leave tells the platform that no callbacks are at a place any more. It is not called before Serve.
	Leave func(ctx context.Context, place string) error
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
	place    string
	left     []string // places of programs that are gone, whose callbacks are here; only work uses it
	adopted  bool     // HandOver has taken over what other programs left; only HandOver uses it
	wake     chan struct{}

	fault  atomic.Pointer[string] // why the inbox took no callback at the last try; nil = it would take others
	ever   atomic.Int64           // callbacks that may be genuine and were ever on the disk, since the start
	stored atomic.Int64           // the same number when none was there last
	room   *keptRoom
}

// keptCallback is a callback as the disk has it, sealed: the address and the body are personal, and the token is
// secret.
type keptCallback struct {
	ID         uuid.UUID `json:"id"` // in the inbox
	Kind       string    `json:"kind"`
	Token      string    `json:"token,omitempty"`
	IP         string    `json:"ip"`
	Listed     bool      `json:"listed,omitempty"` // the allowed senders had the address when the callback came
	ReceivedAt time.Time `json:"receivedAt"`
	Body       []byte    `json:"body"`
}

// NewKept makes a keeper, which needs no database before Serve.
func NewKept(cfg KeptConfig) *Kept {
	return &Kept{
		cfg: cfg, logger: cfg.Logger, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1),
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
		k.loops.Go("kept callbacks", k.work)
		k.loops.Go("callbacks of programs that stand by", k.takeHanded)
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
		k.place = placename.Of(k.path, k.logger)
		k.room = newKeptRoom(file.Bytes())
		k.ever.Add(int64(file.Len()))
		return nil
	}
	return fmt.Errorf("callbacks on the disk: %d programs use %s", keptJournals, k.cfg.Dir)
}

// journal opens the journal in a directory.
func (k *Kept) journal(ctx context.Context, dir string) (*journal.Queue, error) {
	return journal.OpenQueue(ctx, journal.Config{Dir: dir, Segment: keptSegment, Logger: k.logger})
}

// Len is the number of callbacks that wait on the disk.
func (k *Kept) Len() int { return k.file.Len() }

// Ever is the number of callbacks that may be genuine and have waited on the disk since the start; it only grows.
func (k *Kept) Ever() int64 { return k.ever.Load() }

// Money is the number of callbacks that wait on the disk, 0 when none of them can be genuine. One that is being written
// counts, and one whose writing has failed until the disk was looked at again.
func (k *Kept) Money() int64 {
	if k.ever.Load() == k.stored.Load() {
		return 0
	}
	return max(1, int64(k.file.Len()))
}

// Fault says why callbacks wait on the disk because the inbox takes none; "" when none waits, or it takes others.
func (k *Kept) Fault() string {
	if why := k.fault.Load(); why != nil && !k.Empty() {
		return *why
	}
	return ""
}

// Empty reports whether no callback waits on the disk.
func (k *Kept) Empty() bool { return k.file.Empty() }

// Receive keeps a callback that tells of money while the program starts, and gives the answer (Receiver.Receive).
// Fails: source_not_allowed, rate_limited, malformed_callback, callback_not_kept.
func (k *Kept) Receive(ctx context.Context, kind, token, ip string, body []byte) (any, error) {
	listed, err := admitted(k.cfg.Allowed, ip)
	if err != nil {
		return nil, err
	}
	callback, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("keep callback: %w", err)
	}
	err = k.keep(ctx, keptCallback{
		ID: callback, Kind: kind, Token: token, IP: ip, Listed: listed, ReceivedAt: k.cfg.Clock.Now(), Body: body,
	}, nil)
	if err != nil {
		return nil, err
	}
	return acknowledged(kind, body)
}

// keep writes a callback through to the disk. why is the error for which the inbox did not take it; nil = it was not
// asked. Fails: rate_limited, callback_not_kept.
func (k *Kept) keep(ctx context.Context, c keptCallback, why error) error {
	source, err := k.admit(ctx, c)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keep callback: %w", err)
	}
	sealed := vault.SealKept(k.cfg.Ring, plain)
	octets, callback := journal.Size(sealed), keptIDOf(sealed)
	if k.file.Bytes()+octets > keptLimit || !k.room.take(callback, source, octets) {
		return notKept(errKeptFull)
	}
	if source.money {
		k.ever.Add(1) // before it can be taken
	}
	err = k.file.Append(sealed)
	k.room.written(callback, err != nil)
	loop.Wake(k.wake)
	if err != nil {
		return notKept(err)
	}
	attrs := []any{"callback_id", c.ID, "kind", c.Kind}
	if why != nil {
		attrs = append(attrs, "error", why)
	}
	if stack := loop.StackOf(why); stack != "" {
		attrs = append(attrs, "stack", stack)
	}
	k.logger.WarnContext(ctx, "callback waits on the disk for the database", attrs...)
	return nil
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
	k.adopt(ctx, true)
	k.left = append(k.left, formerPlace(k.place)) // what was there is in this journal
	for ctx.Err() == nil {
		k.adopt(ctx, true)
		k.learn(ctx)
		if !k.Empty() && !k.cfg.Written() {
			loop.Sleep(ctx, keptRound)
			continue
		}
		if err := k.store(ctx); err != nil && ctx.Err() == nil {
			k.fault.Store(k.refusal(ctx))
			k.logger.WarnContext(ctx, "callbacks on the disk are not stored", "waiting", k.Len(), "error", err)
			pause.Wait(ctx)
			continue
		}
		k.fault.Store(nil)
		k.leave(ctx)
		pause.Reset()
		loop.WaitFor(ctx, k.wake, adoptRound)
	}
}

// refusal says why the inbox takes no callback at all; nil when it takes others than those that wait.
func (k *Kept) refusal(ctx context.Context) *string {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	_, err := k.tokens.Load().Lookup(ctx, "of nobody")
	if failure.KindOf(err) == failure.NotFound {
		err = k.receiver.Workers.cfg.Inbox.Takes(ctx)
	}
	if err == nil {
		return nil
	}
	why := err.Error()
	return &why
}

// learn learns the tokens of shortcodes that other programs have made meanwhile.
func (k *Kept) learn(ctx context.Context) {
	if !k.cfg.Written() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	if err := k.tokens.Load().Remember(ctx, TokenPaybill, newTokens); err != nil {
		k.logger.WarnContext(ctx, "tokens of callbacks are not learned", "error", err)
	}
}

// store tries once to store each callback that waits in the inbox, in their order, and forgets those that are there. A
// repeat after a kill changes nothing, because each has its id in the inbox since it was received. It fails when one of
// them waits on.
func (k *Kept) store(ctx context.Context) (waits error) {
	for todo := k.file.Len(); todo > 0 && ctx.Err() == nil; {
		records, places, err := k.file.Next(keptPage)
		if err != nil || len(places) == 0 {
			return err
		}
		stored, behind, why, err := k.storePage(ctx, records)
		if err == nil {
			err = k.file.Append(behind...)
		}
		if err != nil {
			return err
		}
		waits = cmp.Or(waits, why)
		err = k.file.Taken(places) // fails on a full disk, but these are stored
		k.room.gone(stored)
		k.receiver.Inbox.Wake()
		k.emptied()
		if err != nil {
			return err
		}
		if todo -= len(places); why != nil && len(behind) == len(records) {
			break // others will hardly fare better now; a later try begins with them
		}
	}
	k.emptied() // what could not be written is not there
	return cmp.Or(ctx.Err(), waits)
}

// storePage stores some callbacks, and gives those that are done, and those that the database answered with an error.
// They go behind all others: a damaged page of one index must not keep the money of others out. After an error that
// says nothing about a single one it ends.
func (k *Kept) storePage(ctx context.Context, records [][]byte) (stored, behind [][]byte, why, err error) {
	for _, sealed := range records {
		err := k.storeOne(ctx, sealed)
		var answer *pgconn.PgError
		switch {
		case err == nil:
			stored = append(stored, sealed)
		case postgres.Away(err) || !errors.As(err, &answer):
			return nil, nil, nil, err
		default:
			behind, why = append(behind, sealed), err
		}
	}
	return stored, behind, why, nil
}

// emptied notes that nothing waits on the disk any more, if that is so. Only work calls it, and before it HandOver.
func (k *Kept) emptied() {
	k.room.emptied(k.file.Empty, func() { k.stored.Store(k.ever.Load()) })
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
	c.Listed = c.Listed || onList(k.receiver.Allowed, c.IP) // older programs did not write it
	s, err := k.receiver.identify(ctx, c)
	if err == nil {
		err = k.receiver.store(ctx, c, s)
	}
	if err != nil {
		return fmt.Errorf("callback %s: %w", c.ID, err)
	}
	return nil
}
