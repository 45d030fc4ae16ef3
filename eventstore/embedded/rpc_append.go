package embedded

import (
	"errors"
	"io"
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// Append stores a list of events, all or none. A wrong expected version is a normal response, not an error.
func (s *streamsService) Append(call streams.Streams_AppendServer) error {
	memory := s.node.newLoad(accountOf(call.Context()))
	options, events, err := s.receiveAppend(call, memory)
	if err != nil {
		memory.free()
		return err
	}
	w := write{
		kind: writeAppend, stream: string(options.GetStreamIdentifier().GetStreamName()), events: events, load: memory,
	}
	if err := checkWritable(w.stream); err != nil {
		memory.free()
		return err
	}
	switch e := options.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_Revision:
		w.expected = exact(e.Revision)
	case *streams.AppendReq_Options_NoStream:
		w.expected = expectNoStream
	case *streams.AppendReq_Options_Any:
		w.expected = expectAny
	case *streams.AppendReq_Options_StreamExists:
		w.expected = expectExists
	default:
		memory.free()
		return invalidArgument("the append names no expected revision")
	}
	o, err := s.node.execute(call.Context(), &w)
	if err != nil {
		return err
	}
	switch o.verdict {
	case verdictDeleted:
		return streamDeleted(w.stream)
	case verdictWrong:
		return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_WrongExpectedVersion_{
			WrongExpectedVersion: wrongVersionOf(options, o.current),
		}})
	}
	return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_Success_{Success: successOf(o)}})
}

// receiveAppend reads the whole request, also after a fault: a client that is still sending would not receive the
// status otherwise. What it reads after a fault takes no memory. It weighs each message before it is decoded.
func (s *streamsService) receiveAppend(
	call streams.Streams_AppendServer, memory *load,
) (*streams.AppendReq_Options, []proposal, error) {
	var options *streams.AppendReq_Options
	p := proposals{limit: s.node.config.MaxAppendSize}
	in := incoming{admit: func(weight int) error { return memory.grow(call.Context(), weight) }}
	for {
		var req *streams.AppendReq
		if in.message = nil; p.fault == nil {
			req = &streams.AppendReq{}
			in.message = req
		}
		memory.waits(true)
		err := call.RecvMsg(&in)
		memory.waits(false)
		switch {
		case errors.Is(err, io.EOF):
			if p.fault == nil && options == nil {
				p.refuse(invalidArgument("the append has no options"))
			}
			return options, p.events, p.fault
		case err != nil:
			return nil, nil, err
		case req == nil:
			continue
		case in.fault != nil:
			p.refuse(in.fault)
			continue
		}
		switch m := req.GetContent().(type) {
		case *streams.AppendReq_Options_:
			if options != nil {
				p.refuse(invalidArgument("the append has options twice"))
			}
			options = m.Options
			p.aim(string(options.GetStreamIdentifier().GetStreamName()))
		case *streams.AppendReq_ProposedMessage_:
			if options == nil {
				p.refuse(invalidArgument("the append must begin with its options"))
			}
			first := len(p.events)
			p.add(m.ProposedMessage)
			p.release(first, in.bytes)
		default:
			p.refuse(invalidArgument("the append has a message without content"))
		}
		if p.fault != nil {
			memory.free()
		}
	}
}

// exact converts a revision from the wire. Numbers above the greatest revision become one that no stream can have.
func exact(revision uint64) int64 { return int64(min(revision, math.MaxInt64-1)) }

// successOf builds the response for an append that is in the log, new or repeated.
func successOf(o outcome) *streams.AppendResp_Success {
	s := &streams.AppendResp_Success{}
	if o.current < 0 {
		s.CurrentRevisionOption = &streams.AppendResp_Success_NoStream{NoStream: &shared.Empty{}}
	} else {
		s.CurrentRevisionOption = &streams.AppendResp_Success_CurrentRevision{CurrentRevision: uint64(o.current)}
	}
	at := uint64(o.position)
	s.PositionOption = &streams.AppendResp_Success_Position{
		Position: &streams.AppendResp_Position{CommitPosition: at, PreparePosition: at},
	}
	return s
}

// wrongVersionOf builds the response for an unexpected revision, with the present fields and those of version 20.6.
func wrongVersionOf(o *streams.AppendReq_Options, current int64) *streams.AppendResp_WrongExpectedVersion {
	w := &streams.AppendResp_WrongExpectedVersion{}
	if current < 0 {
		w.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentNoStream{
			CurrentNoStream: &shared.Empty{},
		}
		w.CurrentRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_NoStream_20_6_0{
			NoStream_20_6_0: &shared.Empty{},
		}
	} else {
		w.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentRevision{
			CurrentRevision: uint64(current),
		}
		w.CurrentRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_CurrentRevision_20_6_0{
			CurrentRevision_20_6_0: uint64(current),
		}
	}
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_Revision:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision{
			ExpectedRevision: e.Revision,
		}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision_20_6_0{
			ExpectedRevision_20_6_0: e.Revision,
		}
	case *streams.AppendReq_Options_NoStream:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedNoStream{
			ExpectedNoStream: &shared.Empty{},
		}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision_20_6_0{
			ExpectedRevision_20_6_0: math.MaxUint64,
		}
	case *streams.AppendReq_Options_Any:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedAny{ExpectedAny: &shared.Empty{}}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_Any_20_6_0{
			Any_20_6_0: &shared.Empty{},
		}
	case *streams.AppendReq_Options_StreamExists:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedStreamExists{
			ExpectedStreamExists: &shared.Empty{},
		}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_StreamExists_20_6_0{
			StreamExists_20_6_0: &shared.Empty{},
		}
	}
	return w
}
