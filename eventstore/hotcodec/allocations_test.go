package hotcodec

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	stock "google.golang.org/protobuf/proto"
)

// readObjects is how many objects a message with an event is read into: the copy of its bytes, which outlives grpc's
// buffer and which data, metadata and the name of the stream are parts of; givenEvent, which has the whole message; the
// map that the client wants, which are two objects; and two texts in it, the type and the time. Its other texts, the
// keys and the content type, are constants.
const readObjects = 6

// TestCodec_AnEventIsReadIntoFewObjects. It is serial, because it measures.
func TestCodec_AnEventIsReadIntoFewObjects(t *testing.T) { //nolint:paralleltest // measures allocations
	octets, err := stock.Marshal(event())
	if err != nil {
		t.Fatal(err)
	}
	codec, data := encoding.GetCodecV2(proto.Name), mem.BufferSlice{mem.SliceBuffer(octets)}
	var into streams.ReadResp // the client makes one for each message
	n := testing.AllocsPerRun(100, func() {
		into.Content = nil
		if err := codec.Unmarshal(data, &into); err != nil {
			t.Fatal(err)
		}
	})
	if n > readObjects {
		t.Errorf("%v allocations for an event, want %d", n, readObjects)
	}
}
