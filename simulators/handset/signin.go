package handset

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// errStopped is for customers who sign in at a NAS that was stopped.
var errStopped = errors.New("the NAS is stopped")

// Outcome is how a sign-in ended.
type Outcome string

// The outcomes.
const (
	Accepted   Outcome = "accepted"
	Rejected   Outcome = "rejected"
	Unanswered Outcome = "unanswered" // no answer, or none that was genuine
	Distrusted Outcome = "distrusted" // accepted, but the server did not prove that it knows the password
	Unfit      Outcome = "unfit"      // accepted, but the router cannot do what the answer says
)

// Result is the end of a sign-in as the customer and his router see it.
type Result struct {
	Outcome    Outcome       `json:"outcome"`
	Message    string        `json:"message,omitempty"` // Reply-Message, or the reason for Unfit
	Attributes []Attribute   `json:"attributes"`        // of the answer, in their order
	RoundTrip  time.Duration `json:"roundTripNs"`       // real time from the first sending
	Session    *Session      `json:"session,omitempty"` // when accepted
}

// Dial begins to sign a customer in. done gets the result, once, from any goroutine and without locks, unless the NAS
// is stopped before. It fails for a customer who is not possible.
func (n *NAS) Dial(c Customer, done func(Result)) error { return n.begin(c, new(atomic.Bool), done) }

// SignIn signs a customer in and waits for the end of it. It fails for a customer who is not possible, and when ctx or
// the NAS ends first: the session does not begin then.
func (n *NAS) SignIn(ctx context.Context, c Customer) (Result, error) {
	result := make(chan Result, 1)
	var gone atomic.Bool
	if err := n.begin(c, &gone, func(r Result) { result <- r }); err != nil {
		return Result{}, err
	}
	select {
	case r := <-result:
		return r, nil
	case <-n.done:
		gone.Store(true)
		return Result{}, errStopped
	case <-ctx.Done():
		gone.Store(true)
		return Result{}, fmt.Errorf("sign in: %w", ctx.Err())
	}
}

// SignInAll signs customers in, at most so many a second (0 = as fast as it can) and so many at the same time (0 =
// 512), and calls each with the results, one at a time. It fails like SignIn, after the results of those who had begun.
func (n *NAS) SignInAll(ctx context.Context, list []Customer, pace Pace, each func(Customer, Result)) error {
	if pace.AtOnce <= 0 {
		pace.AtOnce = 512
	}
	places := make(chan struct{}, pace.AtOnce)
	var gone atomic.Bool
	var one sync.Mutex
	began := time.Now()
	for i, c := range list {
		if pace.PerSecond > 0 {
			at := began.Add(time.Duration(i) * time.Second / time.Duration(pace.PerSecond))
			if ahead := time.Until(at); ahead > 0 && !loop.Sleep(ctx, ahead) {
				break
			}
		}
		if err := n.room(ctx, places); err != nil {
			gone.Store(true)
			return err
		}
		err := n.begin(c, &gone, func(r Result) {
			defer func() { <-places }()
			if each != nil {
				one.Lock()
				defer one.Unlock()
				each(c, r)
			}
		})
		if err != nil {
			gone.Store(true)
			return err
		}
	}
	for range pace.AtOnce { // all places are free when all have ended
		if err := n.room(ctx, places); err != nil {
			gone.Store(true)
			return err
		}
	}
	return nil
}

// Pace is how fast SignInAll goes.
type Pace struct {
	PerSecond int // real time
	AtOnce    int
}

// room waits for a place.
func (n *NAS) room(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return ctx.Err()
	case <-n.done:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin sends the request of a customer. done gets the result, from any goroutine; the session does not begin when gone
// is set before.
func (n *NAS) begin(c Customer, gone *atomic.Bool, done func(Result)) error {
	c, err := c.filled()
	if err != nil {
		return err
	}
	if c.MAC == "" {
		c.MAC = n.macOf(c)
	}
	if c.Method == MACLogin {
		c.Name = c.MAC
	}
	n.lock()
	defer n.unlock()
	select {
	case <-n.done:
		return errStopped
	default:
	}
	s, err := n.newSession(c)
	if err != nil {
		return err
	}
	n.pending++
	n.later(func() { n.ask(s, n.servers(c.Service, c.Server), gone, done) })
	return nil
}

// ask asks the first server about a session, and the next one when that is silent.
func (n *NAS) ask(s *session, servers []Server, gone *atomic.Bool, done func(Result)) {
	var at Server
	if len(servers) > 0 {
		at = servers[0]
	}
	answered := func(answer []byte, roundTrip time.Duration) {
		if answer == nil && len(servers) > 1 && n.lives(s) {
			n.ask(s, servers[1:], gone, done)
			return
		}
		n.lock()
		r := n.conclude(s, answer, at.Secret, gone)
		r.RoundTrip = roundTrip
		n.stats.count(r)
		n.later(func() { done(r) })
		n.finished(1)
		n.unlock()
	}
	if len(servers) == 0 {
		answered(nil, 0)
		return
	}
	c := n.callTo(at.Access, at, func(identifier byte) ([]byte, error) {
		return n.accessRequest(s, at.Secret, identifier)
	})
	c.done = answered
	n.access.post(c)
}

// macOf makes up a MAC that stays the same for a customer.
func (n *NAS) macOf(c Customer) string {
	sum := fnv.New64a()
	_, _ = fmt.Fprintln(sum, n.cfg.Seed, n.cfg.Name, c.Service, c.Name)
	b := sum.Sum(nil)
	return fmt.Sprintf("02:%02X:%02X:%02X:%02X:%02X", b[0]^b[7], b[1]^b[6], b[2]^b[5], b[3], b[4])
}

// conclude takes the answer to a sign-in, nil for none; the lock is held.
func (n *NAS) conclude(s *session, answer, secret []byte, gone *atomic.Bool) Result {
	r := Result{Outcome: Unanswered, Attributes: []Attribute{}}
	if p, err := radius.Parse(answer, secret); err == nil {
		messages, _ := rfc2865.ReplyMessage_GetStrings(p)
		r.Attributes, r.Message = attributes(p), strings.Join(messages, "")
		switch {
		case s.life != n.boots: // nobody is there any more to read it
		case p.Code != radius.CodeAccessAccept:
			r.Outcome = Rejected
		case !s.proof.trusted(p, s.customer):
			r.Outcome = Distrusted
		case gone.Load():
		default:
			r.Outcome = Accepted
			if err := n.admit(s, p); err != nil {
				r.Outcome, r.Message = Unfit, err.Error()
			}
		}
	}
	if r.Outcome != Accepted {
		n.pools.release(s.address, s)
		return r
	}
	shown := s.show(n.clock.Now())
	r.Session = &shown
	return r
}
