package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// Tombstone ends a stream for ever, even one that never existed: reads and appends fail from then on.
func (s *streamsService) Tombstone(ctx context.Context, req *streams.TombstoneReq) (*streams.TombstoneResp, error) {
	o := req.GetOptions()
	w := &write{kind: writeTombstone, stream: string(o.GetStreamIdentifier().GetStreamName())}
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.TombstoneReq_Options_Revision:
		w.expected = exact(e.Revision)
	case *streams.TombstoneReq_Options_NoStream:
		w.expected = expectNoStream
	case *streams.TombstoneReq_Options_Any:
		w.expected = expectAny
	case *streams.TombstoneReq_Options_StreamExists:
		w.expected = expectExists
	default:
		return nil, invalidArgument("the tombstone names no expected revision")
	}
	at, err := s.delete(ctx, w)
	if err != nil {
		return nil, err
	}
	return &streams.TombstoneResp{PositionOption: &streams.TombstoneResp_Position_{
		Position: &streams.TombstoneResp_Position{CommitPosition: at, PreparePosition: at},
	}}, nil
}
