// Package changesapi serves GET /events/stream: it tells browsers what changed among the things that they may read
// (docs/rules/http.md#stream-of-changes).
package changesapi

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/changes"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Numbers and times that a Config leaves zero.
const (
	usualEvery     = time.Second      // between two batches
	usualHeartbeat = 10 * time.Second // of a stream that has nothing to tell
	usualLook      = time.Second      // at what the program can do
	usualMost      = 2000             // streams, of all organizations together
	usualPerUser   = 50               // streams of one user
)

// Serving tells open pages how much the program can do at the moment: nobody else tells them that their lists may be
// old, or that nothing can be saved, before they ask for something.
type Serving string

// Values of Serving.
const (
	ServesAll     Serving = "all"
	ServesReads   Serving = "reads"   // nothing can be saved
	ServesNothing Serving = "nothing" // nothing can be read either
)

// Config has the settings of a hub; zero numbers and times are the usual ones.
type Config struct {
	// Every is the shortest time between two batches.
	Every time.Duration
	// Heartbeat is the longest time without a sign of life.
	Heartbeat time.Duration
	// Look is the time between two looks at Serves.
	Look time.Duration
	// Serves is asked from memory; nil = all, always.
	Serves func() Serving
	// Most and PerUser bound the open streams. Of Most no organization has so many that none is left for another.
	Most, PerUser int
	Clock         clock.Clock // required
	Logger        *slog.Logger
}

// Hub hands changes to everybody who reads them. Changes of an organization are gathered into batches, of which every
// reader of the same role gets the same bytes: so a reader costs a write and no more, and one who does not read costs
// no memory. Safe for concurrent use.
type Hub struct {
	cfg   Config
	loops *loop.Group
	wake  chan struct{}
	began chan struct{} // closed when the tail has begun, or is not waited for any more
	// translate and since are of Follow.
	translate changesviews.Translator
	since     func(ctx context.Context, after, upTo uint64) ([]*events.Envelope, bool)

	mu       sync.Mutex
	rooms    map[id.Organization]*room // with readers alone; zero = the root host
	gathered bool                      // changes wait in a room
	position uint64                    // of the log, up to which changes were gathered
	told     uint64                    // of the log, up to which changes are in batches
	begun    bool                      // began is closed
	ended    bool
	serves   Serving
	open     fair.Room // the streams
	perUser  map[id.User]int
	counts   Counts
}

// Counts are those of a hub since its start.
type Counts struct {
	Open     int    // streams at present
	Messages uint64 // that were written, by all streams together
	Dropped  uint64 // streams whose readers did not read
	Resets   uint64 // readers that were told to read everything again
}

// New makes a hub that nobody tells anything yet.
func New(cfg Config) *Hub {
	cfg.Every, cfg.Heartbeat = cmp.Or(cfg.Every, usualEvery), cmp.Or(cfg.Heartbeat, usualHeartbeat)
	cfg.Look = cmp.Or(cfg.Look, usualLook)
	cfg.Most, cfg.PerUser = cmp.Or(cfg.Most, usualMost), cmp.Or(cfg.PerUser, usualPerUser)
	return &Hub{
		cfg: cfg, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1), began: make(chan struct{}),
		serves: ServesAll, rooms: map[id.Organization]*room{},
		perUser: map[id.User]int{}, open: fair.Room{Capacity: int64(cfg.Most)},
	}
}

// Follow makes the tail of the log that tells the hub. The caller starts it before the hub and stops it after it.
func (h *Hub) Follow(log *runner.Runner, t changesviews.Translator, beside ...*runner.Memory) *runner.Tail {
	tail := log.NewTail(t.Types(), h.take, beside...)
	h.translate, h.since = t, tail.Since
	return tail
}

// Start begins to hand out batches (internal/loop has the contract).
func (h *Hub) Start(ctx context.Context) error {
	return h.loops.Start(ctx, func(context.Context) error {
		h.loops.Go("stream of changes", func(ctx context.Context) {
			for loop.Wait(ctx, h.wake) {
				h.publish()
				loop.Sleep(ctx, h.cfg.Every)
			}
		})
		if h.cfg.Serves != nil {
			h.loops.Go("what is served", func(ctx context.Context) {
				for loop.Sleep(ctx, h.cfg.Look) {
					h.serving(h.cfg.Serves())
				}
			})
		}
		return nil
	})
}

// Stop ends all streams, and then the handing out.
func (h *Hub) Stop() {
	h.End()
	h.loops.Stop()
}

// End ends all streams, and refuses new ones.
func (h *Hub) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.begin()
	for _, r := range h.rooms {
		r.stir()
	}
}

// serving tells all readers at once of another condition of the program.
func (h *Hub) serving(now Serving) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.serves == now {
		return
	}
	h.serves = now
	for _, r := range h.rooms {
		r.stir()
	}
}

// Counts gives the present numbers.
func (h *Hub) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := h.counts
	counts.Open = int(h.open.Used())
	return counts
}

// begin lets those in who wait for the tail to begin. The lock is held.
func (h *Hub) begin() {
	if !h.begun {
		h.begun = true
		close(h.began)
	}
}

// awaitBeginning waits until the tail has begun: before, nobody knows what a reader who comes back has missed. A tail
// that waits for a slow read model keeps nobody longer than the time between two signs of life. It returns false when
// ctx has ended.
func (h *Hub) awaitBeginning(ctx context.Context) bool {
	if h.since == nil {
		return ctx.Err() == nil // there is no tail
	}
	return loop.WaitFor(ctx, h.began, h.cfg.Heartbeat)
}

// take gathers what events change. Who came before the tail had begun reads everything again.
func (h *Hub) take(shown runner.Shown) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	if shown.Gap || h.position == 0 {
		for _, r := range h.rooms {
			r.reset(h.cfg.Clock.Now())
			h.gathered = true
		}
	}
	if len(h.rooms) > 0 {
		for _, e := range shown.Events {
			for _, c := range h.translate.Of(e) {
				h.gather(c)
			}
		}
	}
	if h.position = shown.UpTo; !h.gathered {
		h.told = h.position
		return
	}
	loop.Wake(h.wake)
}

// Tell hands on changes that are no events, such as the beginning of a session. What nobody was told of whose stream
// was away is made up for when he comes back: see opening.
func (h *Hub) Tell(list ...changesviews.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range list {
		h.gather(c)
	}
	if h.gathered {
		loop.Wake(h.wake)
	}
}

// gather adds a change to the next batch of its organization, if anybody is there. The lock is held.
func (h *Hub) gather(c changesviews.Change) {
	if r := h.rooms[c.OrgID]; r != nil {
		r.add(c)
		h.gathered = true
	}
}

// publish makes the gathered changes known.
func (h *Hub) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gathered, h.told = false, h.position
	for _, r := range h.rooms {
		r.publish(h.told)
	}
}

// reader is one who reads a stream.
type reader struct {
	org    id.Organization
	user   id.User
	role   events.Role
	room   *room
	number uint64  // of the next batch
	serves Serving // as the reader was told last
}

// errTooMany refuses a further stream of a user.
func errTooMany() error {
	return failure.NewLimited("too_many_streams", "Too many pages of yours are open. Please close some.",
		usualHeartbeat)
}

// errFull refuses a stream because there are too many of the organization, or of all together.
func errFull() error {
	return failure.NewUnavailable("streams_full", "Too many pages are open. Changes are not shown by themselves.",
		usualHeartbeat, nil)
}

// errStopping refuses a stream, or ends it, because the program stops.
func errStopping() error {
	return failure.NewUnavailable("stopping", "The service is stopping. Please try again.", time.Second, nil)
}

// enter lets a reader in, who hears of everything that is not in batches yet; they reach up to a position of the log.
// Fails: too_many_streams, streams_full, stopping.
func (h *Hub) enter(org id.Organization, user id.User, role events.Role) (r *reader, upTo uint64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return nil, 0, errStopping()
	case h.perUser[user] >= h.cfg.PerUser:
		return nil, 0, errTooMany()
	case !h.open.Take(org, 1):
		return nil, 0, errFull()
	}
	at := h.rooms[org]
	if at == nil {
		at = newRoom(org)
		h.rooms[org] = at
	}
	at.readers++
	h.perUser[user]++
	return &reader{org: org, user: user, role: role, room: at, number: at.next()}, h.told, nil
}

// leave forgets a reader, and a room that is empty then.
func (h *Hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open.Give(r.org, 1)
	if h.perUser[r.user]--; h.perUser[r.user] == 0 {
		delete(h.perUser, r.user)
	}
	if r.room.readers--; r.room.readers == 0 {
		delete(h.rooms, r.org)
	}
}

// look gives what there is for a reader since the last look: text for the wire, which is a sign of life when nothing
// concerns the role, or when the program can do less or more than the reader was told last. It has the position of the
// log that the reader knows then. more is closed when there is more. Fails: stopping.
func (h *Hub) look(r *reader) (text []byte, more <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, nil, errStopping()
	}
	text, messages, missed := r.room.since(r.number, r.role)
	if missed {
		text, messages = resetText(h.told, h.cfg.Clock.Now()), 1
		h.counts.Resets++
	}
	h.counts.Messages += uint64(messages) //nolint:gosec // few
	r.number = r.room.next()
	if len(text) == 0 || r.serves != h.serves {
		text = append(slices.Clone(text), aliveText(h.serves, h.told)...)
	}
	r.serves = h.serves
	return text, r.room.changed, nil
}

// dropped counts a reader who did not read.
func (h *Hub) dropped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.Dropped++
}
