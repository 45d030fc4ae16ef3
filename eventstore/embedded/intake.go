package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Bounds of what arrives.
const (
	streamWindow  = 1 << 16  // bytes that a client may send on a stream before the node reads them
	intakeBytes   = 20 << 20 // of messages that are larger than that, while they arrive
	arrivedBytes  = 48 << 20 // of all that has arrived and is not decoded; beyond it a connection is closed
	requestBytes  = 1 << 16  // of a request that is no append
	smallMessage  = 1 << 10  // bytes of a message whose parts are not counted
	decodedObject = 96       // bytes that a part of a message takes beside its own ones
)

// intake bounds what arrives. A message that is larger than the window of its stream is received when the server widens
// the window by the length of the message, which it does as soon as it knows the length. Connections hold that
// permission back until the message has memory. Safe for concurrent use.
type intake struct {
	mem.BufferPool // counts the bytes that have arrived and are not decoded
	arrived        atomic.Int64
	back           func(*[]byte) // is Put
	messages       *budget       // promised to clients that send large messages, and not arrived
	waiting        atomic.Int64  // claims on messages
	small          atomic.Int64  // the weight of small frames that the transport may keep
	calls          atomic.Int64  // that have not ended on the wire
	thinning       sync.Mutex    // held while connections are closed for these two

	patience time.Duration // how long bytes that no call can read any more may take to be given back
	settling time.Duration // how long those of a connection that was dismissed may
	gate     sync.Mutex    // held while it is found out whether there are such bytes
	shedding atomic.Bool   // a connection has been dismissed, and its memory is not free yet
	freed    chan struct{} // has an element when bytes were given back since the last look

	mu          sync.Mutex
	connections map[*connection]struct{}
}

// newIntake has room for so many bytes.
func newIntake(bytes int64) *intake {
	in := &intake{
		BufferPool: mem.DefaultBufferPool(), messages: newBudget("large messages", bytes),
		patience: dismissal / 10, settling: dismissal, freed: make(chan struct{}, 1),
		connections: map[*connection]struct{}{},
	}
	in.back = in.Put
	in.messages.outside, in.messages.relieve = in.arrived.Load, in.relieve
	return in
}

// Get takes a buffer for a part of a message. The transport forgets what lies unread when a call ends, so that such a
// buffer comes back when it is collected. Short ones are those of frames that are sent, which come back at once.
func (in *intake) Get(length int) *[]byte {
	b := in.BufferPool.Get(length)
	if length <= unpooledBytes {
		return b
	}
	runtime.SetFinalizer(b, in.back)
	if in.arrived.Add(int64(cap(*b))) > arrivedBytes {
		in.shed(func() bool { return in.arrived.Load() <= arrivedBytes })
	}
	return b
}

// Put takes a buffer back.
func (in *intake) Put(b *[]byte) {
	if len(*b) <= unpooledBytes {
		in.BufferPool.Put(b)
		return
	}
	runtime.SetFinalizer(b, nil)
	in.arrived.Add(-int64(cap(*b)))
	in.BufferPool.Put(b)
	if in.waiting.Load() > 0 {
		in.messages.poke()
	}
	select {
	case in.freed <- struct{}{}:
	default:
	}
}

// relieve makes room for messages that wait because of what has arrived, until one of them has it.
func (in *intake) relieve() {
	before := in.messages.progress()
	in.shed(func() bool { return in.waiting.Load() == 0 || in.messages.progress().After(before) })
}

// shed collects what calls that have ended left unread. If that is not enough, it closes the connection on which most
// calls have not sent all of their request, or else most calls are: each of them may hold a window. Whoever takes a
// buffer beyond the bound waits until it is known which of the two it is.
func (in *intake) shed(enough func() bool) {
	in.gate.Lock()
	defer in.gate.Unlock()
	if in.shedding.Load() || in.collect(in.patience, enough) {
		return
	}
	in.shedding.Store(true)
	go func() {
		defer in.shedding.Store(false)
		in.dismissMost()
		in.collect(in.settling, enough)
	}()
}

// dismissMost closes the connection on which most calls have not sent all of their request, or else most calls are. A
// call that the node keeps from going on counts half of one whose client does not go on.
func (in *intake) dismissMost() {
	of := func(c *connection) int64 {
		sending := c.sending.Load()
		return (2*sending-min(sending, c.account.heldBack.Load()))<<32 + c.calls.Load()
	}
	in.dismiss(of, "too many bytes have been sent that the node cannot take")
}

// most is the connection that has most of something; nil = there is none.
func (in *intake) most(of func(*connection) int64) (most *connection) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.connections {
		if most == nil || of(c) > of(most) {
			most = c
		}
	}
	return most
}

// collect has what nobody can read any more given back, until that is enough. It gives up when nothing more has come
// for so long after two collections of garbage: how long these take is up to the load of the machine, and not to any
// client.
func (in *intake) collect(patience time.Duration, enough func() bool) bool {
	for range 2 {
		if enough() {
			return true
		}
		sweep()
	}
	over, again := time.After(patience), time.NewTicker(max(patience/4, time.Millisecond))
	defer again.Stop()
	for !enough() {
		select {
		case <-in.freed:
		case <-again.C:
			sweep()
		case <-over:
			return enough()
		}
	}
	return true
}

// swept is garbage whose end is told.
type swept struct{ told chan struct{} }

// sweep collects garbage, and waits until the finalizers of what was found have run, a second at most.
func sweep() {
	told := make(chan struct{})
	runtime.SetFinalizer(&swept{told}, func(s *swept) { close(s.told) })
	runtime.GC()
	select {
	case <-told:
	case <-time.After(time.Second):
	}
}

// enter notes a new connection.
func (in *intake) enter(c *connection) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.connections[c] = struct{}{}
}

// leave forgets a connection.
func (in *intake) leave(c *connection) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.connections, c)
}

// watched are credentials whose connections are looked at.
type watched struct {
	credentials.TransportCredentials
	intake *intake
}

// watchedInfo leads from a call to the account of its connection.
type watchedInfo struct {
	credentials.AuthInfo
	account *account
}

// ServerHandshake looks at a connection from its first frame on.
func (w watched) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := w.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	c := newConnection(conn, w.intake)
	if placed, ok := raw.(*placedConn); ok {
		placed.client.Store(c)
	}
	return c, watchedInfo{info, &c.account}, nil
}

// Clone copies the credentials; the copy has the same intake.
func (w watched) Clone() credentials.TransportCredentials {
	return watched{w.TransportCredentials.Clone(), w.intake}
}

// nodeAccount is the account of what the node does by itself.
var nodeAccount = &account{}

// accountOf is the account of the connection that a call came by.
func accountOf(ctx context.Context) *account {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(watchedInfo); ok {
			return info.account
		}
	}
	return nodeAccount
}

// incoming is a message of a call that decides about its memory when its size is known, before it is decoded.
type incoming struct {
	message proto.Message          // empty; nil = the bytes are thrown away
	admit   func(weight int) error // may be asked twice, for parts of the weight
	bytes   int                    // of the message
	fault   error                  // of admit; the message is not decoded then
}

// intakeCodec is the codec of the server.
type intakeCodec struct{ encoding.CodecV2 }

// errRequestTooLarge refuses a request that no client needs.
var errRequestTooLarge = errors.New("the request is too large")

// Unmarshal decodes a message, if its call wants it.
func (c intakeCodec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	switch bytes := data.Len(); {
	case !ok && bytes > requestBytes:
		return errRequestTooLarge
	case !ok:
		return c.CodecV2.Unmarshal(data, v)
	default:
		in.bytes, in.fault = bytes, nil
	}
	if in.message == nil {
		return nil
	}
	if in.fault = in.admit(in.bytes + eventOverhead); in.fault != nil {
		return in.skeleton(data)
	}
	octets := data.Materialize()
	if in.bytes > smallMessage {
		if in.fault = in.admit(decodedObject * parts(octets, in.events(), 2)); in.fault != nil {
			return in.skeleton(data)
		}
	}
	return hotcodec.Decode(octets, in.message)
}

// events is the number of the field that has events.
func (in *incoming) events() protowire.Number {
	if _, batch := in.message.(*streams.BatchAppendReq); batch {
		return 3
	}
	return 2
}

// skeleton decodes the message without its events.
func (in *incoming) skeleton(data mem.BufferSlice) error {
	r := data.Reader()
	defer r.Close()
	var kept []byte
	for r.Remaining() > 0 {
		tag, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		number, kind := protowire.DecodeTag(tag)
		switch kind {
		case protowire.VarintType:
			value, err := binary.ReadUvarint(r)
			if err != nil {
				return err
			}
			kept = protowire.AppendVarint(protowire.AppendTag(kept, number, kind), value)
		case protowire.BytesType:
			length, err := binary.ReadUvarint(r)
			if err != nil {
				return err
			}
			if length > uint64(r.Remaining()) {
				return io.ErrUnexpectedEOF
			}
			if number != in.events() && int(length)+len(kept) <= requestBytes {
				kept = protowire.AppendVarint(protowire.AppendTag(kept, number, kind), length)
				from := len(kept)
				kept = append(kept, make([]byte, length)...)
				if _, err := io.ReadFull(r, kept[from:]); err != nil {
					return err
				}
			} else if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
				return err
			}
		default:
			return errRequestTooLarge // no field of these messages is of another kind
		}
		if len(kept) > requestBytes+binary.MaxVarintLen64 {
			return errRequestTooLarge
		}
	}
	return hotcodec.Decode(kept, in.message)
}

// parts counts the fields of one number in a message, and those of another one in each of them: when they are decoded,
// each takes more than its own bytes.
func parts(octets []byte, number, inner protowire.Number) (n int) {
	for len(octets) > 0 {
		found, kind, size := protowire.ConsumeTag(octets)
		if size < 0 {
			return n
		}
		octets = octets[size:]
		if size = protowire.ConsumeFieldValue(found, kind, octets); size < 0 {
			return n
		}
		if found == number && kind == protowire.BytesType {
			n++
			if inner > 0 {
				value, _ := protowire.ConsumeBytes(octets)
				n += parts(value, inner, 0)
			}
		}
		octets = octets[size:]
	}
	return n
}
