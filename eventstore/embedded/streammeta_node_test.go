package embedded_test

import (
	"bytes"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"google.golang.org/grpc/codes"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
)

// TestMetadata_OfAStreamHas64KiBAtMost, in both calls: the node has that of many streams in memory.
func TestMetadata_OfAStreamHas64KiBAtMost(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := contract.Connect(t, n.URL())
	call := contract.OpenBatchCall(t, n.URL())
	for stream, most := range map[string]int{"$$s": 64 << 10, "s": 1 << 20} {
		for _, over := range []int{0, 1} {
			e := oneEvent()
			e.EventType, e.Data = "$metadata", bytes.Repeat([]byte{' '}, most+over)
			options := esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}
			_, err := client.AppendToStream(t.Context(), stream, options, e)
			if (err != nil) != (over > 0) {
				t.Errorf("%d bytes to %s: %v", len(e.Data), stream, err)
			}
			req := contract.BatchRequest(stream+"-batch", 1)
			req.ProposedMessages[0].Data = e.Data
			if err := call.Send(req); err != nil {
				t.Fatal(err)
			}
			resp, err := call.Recv()
			if err != nil || (resp.GetError() != nil) != (over > 0) {
				t.Fatalf("%d bytes to %s: %v, %v", len(e.Data), stream, resp, err)
			}
			if over == 0 {
				continue
			}
			large := new(shared.MaximumAppendSizeExceeded)
			refused := resp.GetError()
			if codes.Code(refused.GetCode()) != codes.InvalidArgument || len(refused.GetDetails()) != 1 ||
				refused.GetDetails()[0].UnmarshalTo(large) != nil || large.GetMaxAppendSize() != uint32(most) {
				t.Errorf("%d bytes to %s: %v", len(e.Data), stream, resp)
			}
		}
	}
}
