package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"

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
}

// newReader gets no resolver unless the request asks to resolve links.
func newReader(n *Node, r *readRequest, call streams.Streams_ReadServer) *reader {
	rd := &reader{
		readRequest: r, log: n.log, tail: n.tail, stopping: n.stopping, call: call,
		encoder: eventEncoder{stringIDs: r.stringIDs},
	}
	if r.resolve {
		rd.links = newResolver(n.log)
	}
	return rd
}

// ctx ends when the call ends or the client goes away.
func (r *reader) ctx() context.Context { return r.call.Context() }

// send sends the admitted events of rows in order, at most limit of them, and returns how many it sent. after, if not
// nil, runs for every row that was searched, sent or not.
func (r *reader) send(
	rows []record, limit uint64, admit func(*record) bool, after func(*record) error,
) (sent uint64, err error) {
	for len(rows) > 0 && sent < limit {
		links, err := r.links.resolve(r.ctx(), rows)
		if err != nil {
			return sent, err
		}
		n, err := r.sendResolved(rows[:links.rows], links.events, limit-sent, admit, after)
		links.room.free()
		sent += n
		if err != nil {
			return sent, err
		}
		rows = rows[links.rows:]
	}
	return sent, nil
}

// sendResolved is send for rows whose links are resolved.
func (r *reader) sendResolved(
	rows []record, targets map[target]*record, limit uint64, admit func(*record) bool, after func(*record) error,
) (sent uint64, err error) {
	var buffer []byte
	for i := range rows {
		if sent == limit {
			return sent, nil
		}
		row := &rows[i]
		if admit(row) {
			if cap(buffer)-len(buffer) < row.size()+256 {
				buffer = make([]byte, 0, max(row.size()+256, min(64<<10, (row.size()+256)*(len(rows)-i))))
			}
			from := len(buffer)
			buffer = r.encode(buffer, row, targets)
			f := hotcodec.Frame(buffer[from:len(buffer):len(buffer)])
			if err := r.call.SendMsg(&f); err != nil {
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
	return sent, nil
}

// encode writes one event or, when links are resolved, a link with its target.
func (r *reader) encode(b []byte, row *record, targets map[target]*record) []byte {
	if r.links == nil || row.kind != linkType {
		return r.encoder.encode(b, row, nil)
	}
	var event *record
	if t, ok := parseLink(row.data); ok {
		event = targets[t]
	}
	return r.encoder.encode(b, event, row)
}

// confirm is the first message of a subscription; the id in it has no further use here.
func (r *reader) confirm() error {
	return r.call.Send(&streams.ReadResp{Content: &streams.ReadResp_Confirmation{
		Confirmation: &streams.ReadResp_SubscriptionConfirmation{SubscriptionId: uuid.NewString()},
	}})
}

// caughtUp reports to the subscriber that all events so far have been sent.
func (r *reader) caughtUp() error {
	return r.call.Send(&streams.ReadResp{Content: &streams.ReadResp_CaughtUp_{CaughtUp: &streams.ReadResp_CaughtUp{}}})
}

// checkpoint reports to a filtered subscriber up to which position the search has come.
func (r *reader) checkpoint(position int64) error {
	at := uint64(position)
	return r.call.Send(&streams.ReadResp{Content: &streams.ReadResp_Checkpoint_{
		Checkpoint: &streams.ReadResp_Checkpoint{CommitPosition: at, PreparePosition: at},
	}})
}

// notFound answers a read of a stream that does not exist. For the protocol this is a message, not an error.
func (r *reader) notFound() error {
	return r.call.Send(&streams.ReadResp{
		Content: &streams.ReadResp_StreamNotFound_{StreamNotFound: &streams.ReadResp_StreamNotFound{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(r.stream)},
		}},
	})
}

// await blocks a live subscription until more is closed. It fails when the call or the node ends.
func (r *reader) await(more <-chan struct{}) error {
	select {
	case <-more:
		return nil
	case <-r.ctx().Done():
		return fromContext(r.ctx().Err())
	case <-r.stopping:
		return errStopping
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
