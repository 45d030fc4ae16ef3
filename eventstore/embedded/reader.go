package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// reader serves one Read call. Only the goroutine of that call uses it.
type reader struct {
	*readRequest
	log      *logReader
	tail     *tail
	stopping <-chan struct{}
	call     streams.Streams_ReadServer
	links    *resolver
	encoder  eventEncoder
	out      *outbox
	piece    hotcodec.Piece // which is being sent
	room     *holding       // of an event from the tail that does not fit into a page
}

// newReader gets no resolver unless the request asks to resolve links.
func newReader(n *Node, r *readRequest, call streams.Streams_ReadServer) *reader {
	rd := &reader{
		readRequest: r, log: n.log, tail: n.tail, stopping: n.stopping, call: call,
		encoder: eventEncoder{stringIDs: r.stringIDs},
	}
	owner := accountOf(call.Context())
	rd.out, rd.room = newOutbox(n.log.memory.frames, owner, n.stopping), n.log.memory.rows.open(owner)
	if r.resolve {
		rd.links = newResolver(n.log)
	}
	return rd
}

// end gives the memory of the reader back.
func (r *reader) end() {
	r.out.close()
	r.room.free()
}

// ctx ends when the call ends or the client goes away.
func (r *reader) ctx() context.Context { return r.call.Context() }

// send sends the admitted events of rows in order, at most limit of them, and returns how many it sent. after, if not
// nil, runs for every row that was searched, sent or not.
func (r *reader) send(
	rows []record, limit uint64, admit func(*record) bool, after func(*record) error,
) (sent uint64, err error) {
	for len(rows) > 0 && sent < limit {
		links, err := r.resolve(rows)
		if err != nil {
			return sent, err
		}
		n, err := r.sendResolved(rows[:links.rows], links.events, limit-sent, admit, after)
		links.room.free()
		r.out.others.targets = nil
		sent += n
		if err != nil {
			return sent, err
		}
		rows = rows[links.rows:]
	}
	return sent, nil
}

// resolve resolves the first links of rows, if they are to be. Meanwhile the rows wait for the node.
func (r *reader) resolve(rows []record) (resolved, error) {
	if r.links == nil {
		return r.links.resolve(r.ctx(), rows)
	}
	r.out.excuse(r.links.log.memory.targets)
	links, err := r.links.resolve(r.ctx(), rows)
	r.out.others.targets = links.room.room
	r.out.waits(true)
	return links, err
}

// sendResolved is send for rows whose links are resolved.
func (r *reader) sendResolved(
	rows []record, targets map[target]*record, limit uint64, admit func(*record) bool, after func(*record) error,
) (sent uint64, err error) {
	for i := range rows {
		if sent == limit {
			break
		}
		row := &rows[i]
		if admit(row) {
			if err := r.sendOne(row, targets, len(rows)-i); err != nil {
				return sent, err
			}
			sent++
		}
		if after != nil {
			if err := after(row); err != nil {
				return sent, err
			}
		}
	}
	return sent, r.out.flush(r.ctx())
}

// sendOne sends one event or, when links are resolved, a link with its target. About left events are to be sent.
func (r *reader) sendOne(row *record, targets map[target]*record, left int) error {
	event, link := row, (*record)(nil)
	if r.links != nil && row.kind == linkType {
		event, link = nil, row
		if t, ok := parseLink(row.data); ok {
			event = targets[t]
		}
	}
	m := r.encoder.measure(event, link)
	size := m.size()
	if err := r.out.reserve(r.ctx(), size, min(left, chunkBytes)*size); err != nil {
		return err
	}
	r.piece = r.out.piece(r.encoder.encode(r.out.blank(size), &m))
	return r.call.SendMsg(&r.piece)
}

// live takes the next events from the tail in the way of after. An event that does not fit into a page waits for room
// first; the caller frees the room of the reader when they are sent.
func (r *reader) live(
	position int64, buffer []record, after func(int64, extent, []record) ([]record, <-chan struct{}, bool),
) (rows []record, more <-chan struct{}, held bool, err error) {
	for covered := smallBytes; ; {
		rows, more, held = after(position, extent{liveBatch, smallBytes}, buffer[:0])
		switch {
		case len(rows) == 0: // perhaps the tail has dropped the event that there is room for now
			r.room.free()
			return rows, more, held, nil
		case rows[0].size() <= covered:
			if r.out.others.live = nil; covered > smallBytes {
				r.out.others.live = r.room
			}
			r.out.waits(true)
			return rows, more, held, nil
		}
		covered = rows[0].size()
		clear(rows)
		r.room.free() // it may be for an event that is gone
		if err := r.room.take(r.ctx(), int64(covered)); err != nil {
			return nil, nil, false, fromContext(err)
		}
	}
}

// tell sends a message that is no event. It waits for the client as an event does: the transport takes thousands of
// small messages before it waits.
func (r *reader) tell(m *streams.ReadResp) error {
	octets, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if r.piece, err = r.out.pack(r.ctx(), octets); err != nil {
		return err
	}
	return r.call.SendMsg(&r.piece)
}

// confirm is the first message of a subscription; the id in it has no further use here.
func (r *reader) confirm() error {
	return r.tell(&streams.ReadResp{Content: &streams.ReadResp_Confirmation{
		Confirmation: &streams.ReadResp_SubscriptionConfirmation{SubscriptionId: uuid.NewString()},
	}})
}

// caughtUp reports to the subscriber that all events so far have been sent.
func (r *reader) caughtUp() error {
	return r.tell(&streams.ReadResp{Content: &streams.ReadResp_CaughtUp_{CaughtUp: &streams.ReadResp_CaughtUp{}}})
}

// checkpoint reports to a filtered subscriber up to which position the search has come.
func (r *reader) checkpoint(position int64) error {
	at := uint64(position)
	return r.tell(&streams.ReadResp{Content: &streams.ReadResp_Checkpoint_{
		Checkpoint: &streams.ReadResp_Checkpoint{CommitPosition: at, PreparePosition: at},
	}})
}

// notFound answers a read of a stream that does not exist. For the protocol this is a message, not an error.
func (r *reader) notFound() error {
	return r.tell(&streams.ReadResp{
		Content: &streams.ReadResp_StreamNotFound_{StreamNotFound: &streams.ReadResp_StreamNotFound{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(r.stream)},
		}},
	})
}

// await blocks a live subscription until more is closed. It fails when the call or the node ends, and when another node
// may have the log, whose events this one would not hear of.
func (r *reader) await(more <-chan struct{}) error {
	select {
	case <-more:
		return nil
	case <-r.ctx().Done():
		return fromContext(r.ctx().Err())
	case <-r.stopping:
		return errStopping
	case <-r.tail.doubtful():
		return errNoDatabase
	}
}

// running fails once the node stops: a long read must not delay the stop.
func (r *reader) running() error {
	select {
	case <-r.stopping:
		return errStopping
	default:
		return nil
	}
}
