package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// Delete soft-deletes a stream: it replaces the metadata by a $tb above every event. A later append brings the stream
// back, and its revisions go on.
func (s *streamsService) Delete(ctx context.Context, req *streams.DeleteReq) (*streams.DeleteResp, error) {
	o := req.GetOptions()
	w := &write{kind: writeDelete, stream: string(o.GetStreamIdentifier().GetStreamName())}
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.DeleteReq_Options_Revision:
		w.expected = exact(e.Revision)
	case *streams.DeleteReq_Options_NoStream:
		w.expected = expectNoStream
	case *streams.DeleteReq_Options_Any:
		w.expected = expectAny
	case *streams.DeleteReq_Options_StreamExists:
		w.expected = expectExists
	default:
		return nil, invalidArgument("the delete names no expected revision")
	}
	at, err := s.delete(ctx, w)
	if err != nil {
		return nil, err
	}
	return &streams.DeleteResp{PositionOption: &streams.DeleteResp_Position_{
		Position: &streams.DeleteResp_Position{CommitPosition: at, PreparePosition: at},
	}}, nil
}

// delete runs a soft delete or a tombstone and returns the position of the event that records it.
func (s *streamsService) delete(ctx context.Context, w *write) (uint64, error) {
	if err := checkWritable(w.stream); err != nil {
		return 0, err
	}
	if isMetastream(w.stream) {
		return 0, invalidArgument("a metastream cannot be deleted; delete the stream it describes")
	}
	o, err := s.node.execute(ctx, w)
	switch {
	case err != nil:
		return 0, err
	case o.verdict == verdictDeleted:
		return 0, streamDeleted(w.stream)
	case o.verdict == verdictWrong:
		return 0, wrongExpectedVersion(w.stream, w.expected, o.current)
	}
	return uint64(o.position), nil
}
