package paymentsjobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Bounds of the callbacks that wait on the disk, in octets there (docs/rules/payments.md#kept-on-the-disk). A callback
// takes about 1 KiB.
const (
	keptLimit = 64 << 20
	// strangersShare is the part of it for callbacks without a token that this program knows: one quarter. Nothing else
	// comes out of it, and they come out of nothing else.
	strangersShare = keptLimit / 4
	// senderShare is the most of one address without a known token. The provider's own addresses send for many and may
	// have providerTimes as much, and as many in a minute.
	senderShare, providerTimes = 1 << 20, 10
	// keptBody is the longest body that is kept. Real ones are under 2 KiB.
	keptBody = 4 << 10
)

// Why a callback is not kept.
var (
	errKeptFull = errors.New("too many callbacks wait on the disk")
	errKeptLong = errors.New("the callback is too long to wait on the disk")
)

// inherited holds what was on the disk before this program began.
var inherited = id.Derive[id.Organization]("callbacks on the disk before the start")

// keptSource is where a callback came from, as far as that is known without the database.
type keptSource struct {
	known  bool
	org    id.Organization // of a known token; each shortcode of the platform counts as an organization
	sender string          // the address, without a known token
	most   int64           // octets for that address
	money  bool            // the callback may be genuine, so that nobody is cut before it is counted
}

// keptID tells a callback on the disk from all others: the hash of what is there.
type keptID [sha256.Size]byte

// keptIDOf is that of a sealed callback.
func keptIDOf(sealed []byte) keptID { return sha256.Sum256(sealed) }

// keptHold is the room of one callback.
type keptHold struct {
	source keptSource
	octets int64
}

// keptRoom shares out the disk: each callback there has its room until it is stored. newKeptRoom makes it. Safe for
// concurrent use.
type keptRoom struct {
	mu        sync.Mutex
	holds     map[keptID]keptHold // of callbacks that came since the start
	known     fair.Room
	strangers int64            // octets of all senders without a known token
	senders   map[string]int64 // octets of each
	writing   int              // callbacks that have their room and are not on the disk yet
}

// newKeptRoom makes the room of a disk on which there is something already.
func newKeptRoom(before int64) *keptRoom {
	r := &keptRoom{}
	r.clear()
	r.known.Hold(inherited, before)
	return r
}

// clear gives all room back. The lock is held.
func (r *keptRoom) clear() {
	r.holds = map[keptID]keptHold{}
	r.known, r.strangers, r.senders = fair.Room{Capacity: keptLimit - strangersShare}, 0, map[string]int64{}
}

// take takes room for a callback that is going to be written, and reports false when there is none. written must
// follow.
func (r *keptRoom) take(callback keptID, s keptSource, octets int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.known && !r.known.Take(s.org, octets):
		return false
	case !s.known && (r.strangers+octets > strangersShare || r.senders[s.sender]+octets > s.most):
		return false
	case !s.known:
		r.strangers += octets
		r.senders[s.sender] += octets
	}
	r.holds[callback] = keptHold{s, octets}
	r.writing++
	return true
}

// adopt notes a callback of another program, for which no room was taken.
func (r *keptRoom) adopt(callback keptID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds[callback] = keptHold{}
}

// written ends the writing of a callback, and gives its room back when that has failed.
func (r *keptRoom) written(callback keptID, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing--
	if failed {
		r.give(callback)
	}
}

// gone gives the room of callbacks back that are not on the disk any more.
func (r *keptRoom) gone(sealed [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range sealed {
		if !r.give(keptIDOf(one)) {
			r.known.Give(inherited, min(journal.Size(one), r.known.Held(inherited)))
		}
	}
}

// give gives the room of a callback back; false when it was there before this program began. The lock is held.
func (r *keptRoom) give(callback keptID) bool {
	held, ok := r.holds[callback]
	delete(r.holds, callback)
	if s := held.source; s.known {
		r.known.Give(s.org, held.octets)
	} else if held.octets > 0 {
		r.strangers -= held.octets
		if r.senders[s.sender] -= held.octets; r.senders[s.sender] <= 0 {
			delete(r.senders, s.sender)
		}
	}
	return ok
}

// emptied gives all room back, also that of callbacks which the disk has lost, and calls then, if nothing is on the
// disk and nothing is being written.
func (r *keptRoom) emptied(empty func() bool, then func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == 0 && empty() {
		r.clear()
		then()
	}
}

// admit judges without the database whether a callback may be kept, and gives the source for which it counts. Fails:
// rate_limited, callback_not_kept.
func (k *Kept) admit(ctx context.Context, c keptCallback) (keptSource, error) {
	if len(c.Body) > keptBody {
		return keptSource{}, notKept(errKeptLong)
	}
	tokens := k.tokens.Load()
	if tokens != nil {
		if org, ok := known(tokens, c.Kind, secrets.Text(c.Token)); ok {
			if org.IsZero() && (ofResult(c.Kind) || tokenOf(c.Kind) == TokenPaybill) {
				org = id.Derive[id.Organization]("shortcode of the platform", c.Token)
			}
			return keptSource{known: true, org: org, money: true}, nil
		}
	}
	times := 1
	if c.Listed {
		times = providerTimes
	}
	if k.cfg.PerMinute > 0 {
		ok, wait, err := k.cfg.Limits.Allow(ctx, "kept:address "+c.IP, k.cfg.PerMinute*times, time.Minute)
		if err != nil {
			return keptSource{}, err
		}
		if !ok {
			return keptSource{}, failure.NewLimited("rate_limited", "Too many requests. Please wait.",
				max(wait, time.Second))
		}
	}
	return keptSource{
		sender: c.IP, most: int64(senderShare * times),
		money: c.Listed || tokens == nil || c.Token == "" && k.receiver.TrustBare,
	}, nil
}
