// Package hotcodec is the codec of the messages that come with every event, for client and server. The stock codec
// builds each of them from some twenty objects by reflection, which is the greater part of what a read or an append
// costs; this one builds the same messages from one or two. It takes the usual form of a message alone, and leaves
// everything else to the stock codec, so that a message means the same whoever reads it.
//
// Importing it puts it in the place of the stock codec of grpc, for all calls of the program (ADR 0037).
package hotcodec

import (
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	stock "google.golang.org/protobuf/proto"
)

// init registers the codec. The stock one has registered itself by then, since it is imported.
func init() { encoding.RegisterCodecV2(codec{encoding.GetCodecV2(proto.Name)}) }

// Frame is a message that is encoded already. SendMsg takes a pointer to it.
type Frame []byte

// Piece is a message that is encoded already and whose memory is wanted back when it is sent. SendMsg takes a pointer
// to it, and the references to the buffers.
type Piece struct {
	mem.Buffer
	More mem.BufferSlice // what comes after it; nil = nothing
}

// codec has the name of the stock codec, which does the rest.
type codec struct{ encoding.CodecV2 }

// Marshal copies no bytes of a frame or piece.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch f := v.(type) {
	case *Frame:
		return mem.BufferSlice{mem.SliceBuffer(*f)}, nil
	case *Piece:
		if f.More == nil {
			return mem.BufferSlice{f.Buffer}, nil
		}
		return append(mem.BufferSlice{f.Buffer}, f.More...), nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal reads a message. Those of the four kinds keep parts of one copy of the bytes.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(stock.Message); ok && reads(v) {
		return Decode(data.Materialize(), m)
	}
	return c.CodecV2.Unmarshal(data, v)
}

// reads reports whether a message is of one of the kinds that this codec reads.
func reads(v any) bool {
	switch v.(type) {
	case *streams.ReadResp, *streams.AppendReq, *streams.BatchAppendReq, *streams.BatchAppendResp:
		return true
	}
	return false
}

// Decode reads a message, which may keep parts of octets.
func Decode(octets []byte, into stock.Message) error {
	done := false
	switch m := into.(type) {
	case *streams.ReadResp:
		done = readEvent(octets, m)
	case *streams.AppendReq:
		done = readProposed(octets, m)
	case *streams.BatchAppendReq:
		done = readAppend(octets, m)
	case *streams.BatchAppendResp:
		done = readAppended(octets, m)
	}
	if done {
		return nil
	}
	return stock.Unmarshal(octets, into)
}
