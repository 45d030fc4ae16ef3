package embedded

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/mem"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Bounds of what a call has encoded and not sent, in bytes. The transport takes 64 KiB and whole messages before it
// lets a call wait, whatever memory it needs for each of them. A call whose client does not read mostly waits here
// before that. It may wait in the transport with a large page.
const (
	chunkBytes    = 16 << 10  // messages are encoded into chunks of memory; a larger one gets its own
	chunkMessages = 64        // in one chunk
	messageBytes  = 256       // that the transport needs for a message, beside its own bytes
	outBytes      = 40 << 10  // that the transport has when the next chunk is begun
	fastBytes     = 256 << 10 // the same while the reader has the room of a large page: more than the transport takes
	partBytes     = 64 << 10  // of a large event, of which it is seen whether they are sent
)

// chunk is memory for messages of one call.
type chunk struct {
	outbox *outbox
	octets []byte
	weight int64 // bytes that are pending for it; only the goroutine of the call adds to it, as long as it has the rest
}

// chunks are those that are not in use.
var chunks = sync.Pool{New: func() any { return &chunk{octets: make([]byte, chunkBytes)} }}

// Get is not used: the chunk is a pool only to be told that its messages were sent.
func (c *chunk) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put takes the memory back when its messages are sent, or their call has ended.
func (c *chunk) Put(*[]byte) {
	o, weight := c.outbox, c.weight
	if c.outbox = nil; cap(c.octets) == chunkBytes {
		chunks.Put(c)
	}
	o.left(weight)
}

// outbox encodes the messages of one call and knows how much of it the transport has not sent. Only the goroutine of
// the call uses it, but for left, Get and Put.
type outbox struct {
	room    *holding // of an event that does not fit into a chunk
	large   bool     // room has it
	others  otherRooms
	work    *chunk
	rest    mem.Buffer // of the chunk in work, or memory for a message that fits into none; nil = neither
	pending atomic.Int64
	fast    bool          // the reader has a large page
	sent    chan struct{} // has an element when something was sent since the last look
	stopped <-chan struct{}
}

// otherRooms are those that a reader has beside that of its outbox, for events that fit into no page; nil = none.
type otherRooms struct{ page, targets, live *holding }

// all are those that the reader has.
func (r otherRooms) all() []*holding {
	list := make([]*holding, 0, 3)
	for _, h := range [...]*holding{r.page, r.targets, r.live} {
		if h != nil {
			list = append(list, h)
		}
	}
	return list
}

// waits notes that the rooms of the reader wait for its client, or, with false, that they do not. Each call counts as
// going on.
func (o *outbox) waits(client bool) {
	if o.large {
		o.room.waits(client)
	}
	for _, h := range o.others.all() {
		h.waits(client)
	}
}

// excuse notes that the rooms of the reader wait for the node, which is short of a kind of memory. A client that leaves
// some of that unused itself is not excused.
func (o *outbox) excuse(short *budget) {
	if short.unused(o.room.owner) {
		return
	}
	for _, h := range o.others.all() {
		h.excuse()
	}
}

// newOutbox has nothing to send.
func newOutbox(frames *budget, owner *account, stopped <-chan struct{}) *outbox {
	return &outbox{room: frames.open(owner), sent: make(chan struct{}, 1), stopped: stopped}
}

// Get is not used: the outbox is a pool only to be told of parts of large events that were sent.
func (o *outbox) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put is told of a part of a large event.
func (o *outbox) Put(b *[]byte) { o.left(int64(cap(*b))) }

// left notes that so many bytes were sent, or that their call has ended. Safe for concurrent use.
func (o *outbox) left(bytes int64) {
	o.pending.Add(-bytes)
	select {
	case o.sent <- struct{}{}:
	default:
	}
}

// reserve makes room for a message of so many bytes. It waits until the client has taken most of what was sent before.
// of is about how much will be sent.
func (o *outbox) reserve(ctx context.Context, bytes, of int) error {
	if o.rest != nil && o.rest.Len() >= bytes && o.work.takesMore() {
		return nil
	}
	if bytes > chunkBytes {
		if err := o.makeRoom(ctx, bytes); err != nil {
			return err
		}
		o.rest = mem.SliceBuffer(make([]byte, bytes)) // its parts are counted
		return nil
	}
	if err := o.flush(ctx); err != nil {
		return err
	}
	if want := max(bytes, min(of, chunkBytes), unpooledBytes+1); want > chunkBytes/4 {
		o.work = chunks.Get().(*chunk)
	} else {
		o.work = &chunk{octets: make([]byte, want)}
	}
	o.work.outbox, o.work.weight = o, int64(cap(o.work.octets))
	o.pending.Add(o.work.weight)
	o.rest = mem.NewBuffer(&o.work.octets, o.work)
	return nil
}

// takesMore reports whether a chunk has not as many messages as one may.
func (c *chunk) takesMore() bool {
	return c != nil && c.weight < int64(cap(c.octets))+chunkMessages*messageBytes
}

// pack gives the piece for a message that is encoded, when there is room for it.
func (o *outbox) pack(ctx context.Context, octets []byte) (p hotcodec.Piece, err error) {
	if err := o.reserve(ctx, len(octets), len(octets)); err != nil {
		return p, err
	}
	return o.piece(append(o.blank(len(octets)), octets...)), nil
}

// makeRoom waits for the room of a message that fits into no chunk, when little is left of what was sent before. From
// then on the room waits for the client, since the transport may let the call wait in the middle of sending.
func (o *outbox) makeRoom(ctx context.Context, bytes int) error {
	if err := o.drain(ctx, outBytes); err != nil {
		return err
	}
	if !o.room.try(int64(bytes)) {
		o.excuse(o.room.budget)
		if err := o.room.take(ctx, int64(bytes)); err != nil {
			return fromContext(err)
		}
	}
	o.large = true
	o.waits(true)
	return nil
}

// unpooledBytes is up to where grpc does not tell when memory is not used any more.
const unpooledBytes = 1 << 10

// blank is where the next message is written, which has so many bytes, for which there is room.
func (o *outbox) blank(bytes int) []byte { return o.rest.ReadOnlyData()[:0:bytes] }

// piece is the next message, which was written there.
func (o *outbox) piece(written []byte) (p hotcodec.Piece) {
	if len(written) > chunkBytes {
		o.rest, o.work = nil, nil
		return o.parts(written)
	}
	p.Buffer, o.rest = mem.SplitUnsafe(o.rest, len(written))
	o.work.weight += messageBytes
	o.pending.Add(messageBytes)
	return p
}

// parts is a message that fits into no chunk.
func (o *outbox) parts(written []byte) (p hotcodec.Piece) {
	o.pending.Add(int64(len(written)))
	for p.Buffer == nil || len(written) > 0 {
		n := len(written)
		if n > 2*partBytes {
			n = partBytes
		}
		part := written[:n:n]
		written = written[n:]
		if b := mem.NewBuffer(&part, o); p.Buffer == nil {
			p.Buffer = b
		} else {
			p.More = append(p.More, b)
		}
	}
	return p
}

// flush ends the chunk in work and waits until the client has taken most of what was sent. The bytes of an event that
// has room are with the transport until little is left. While there is room for the targets of links, each wait shows
// whether the client goes on.
func (o *outbox) flush(ctx context.Context) error {
	if o.fast && !o.large && o.others.targets == nil {
		return o.drain(ctx, fastBytes)
	}
	return o.drain(ctx, outBytes)
}

// settle waits until little is left of a large page, whose room is given back then.
func (o *outbox) settle(ctx context.Context) error {
	if !o.fast {
		return nil
	}
	o.fast = false
	return o.flush(ctx)
}

// drain is flush until the transport has at most so many bytes.
func (o *outbox) drain(ctx context.Context, most int64) error {
	o.finish()
	for before := int64(-1); o.pending.Load() > most; {
		if now := o.pending.Load(); now != before {
			before = now
			o.waits(true)
		}
		select {
		case <-o.sent:
		case <-ctx.Done():
			return fromContext(ctx.Err())
		case <-o.stopped:
			return errStopping
		}
	}
	if o.large {
		o.room.free()
		o.large = false
	}
	return nil
}

// close gives back what is not in the hands of the transport.
func (o *outbox) close() {
	o.finish()
	o.room.free()
}

// finish ends the chunk in work.
func (o *outbox) finish() {
	if o.rest != nil {
		o.rest.Free()
		o.rest, o.work = nil, nil
	}
}
