package embedded

import (
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// origin says from where a read begins.
type origin int

// The origins; the zero value is the start.
const (
	fromStart origin = iota
	fromEnd
	fromPlace // a revision, or a position in $all
)

// readRequest is a checked Read call.
type readRequest struct {
	stream        string // allStream = $all
	origin        origin
	place         int64 // for fromPlace
	backwards     bool
	subscribe     bool
	count         uint64
	resolve       bool
	stringIDs     bool
	filter        *filter
	compatibility uint32
}

// Read serves plain reads and catch-up subscriptions of streams and of $all.
func (s *streamsService) Read(req *streams.ReadReq, call streams.Streams_ReadServer) error {
	r, err := parseRead(req.GetOptions())
	if err != nil {
		return err
	}
	if r.filter != nil {
		r.filter.ended, r.filter.stopping = call.Context().Done(), s.node.stopping
	}
	reader := newReader(s.node, r, call)
	defer reader.end()
	switch all := r.stream == allStream; {
	case r.subscribe && all:
		return reader.subscribeAll()
	case r.subscribe:
		return reader.subscribeStream()
	case all:
		return reader.readAll()
	}
	return reader.readStream()
}

// parseRead checks the combination of options as strictly as the real server does.
func parseRead(o *streams.ReadReq_Options) (*readRequest, error) {
	r := &readRequest{
		backwards:     o.GetReadDirection() == streams.ReadReq_Options_Backwards,
		resolve:       o.GetResolveLinks(),
		compatibility: o.GetControlOption().GetCompatibility(),
	}
	switch o.GetUuidOption().GetContent().(type) {
	case *streams.ReadReq_Options_UUIDOption_Structured:
	case *streams.ReadReq_Options_UUIDOption_String_:
		r.stringIDs = true
	default:
		return nil, invalidArgument("the read does not say how ids are written")
	}
	switch c := o.GetCountOption().(type) {
	case *streams.ReadReq_Options_Count:
		r.count = c.Count
	case *streams.ReadReq_Options_Subscription:
		r.subscribe = true
	default:
		return nil, invalidArgument("the read has neither a count nor a subscription")
	}
	if r.subscribe && r.backwards {
		return nil, invalidArgument("a subscription cannot run backwards")
	}
	if err := r.parsePlace(o); err != nil {
		return nil, err
	}
	return r, r.parseFilter(o)
}

// parsePlace reads the stream and the place to begin at.
func (r *readRequest) parsePlace(o *streams.ReadReq_Options) error {
	switch of := o.GetStreamOption().(type) {
	case *streams.ReadReq_Options_Stream:
		r.stream = string(of.Stream.GetStreamIdentifier().GetStreamName())
		if r.stream == allStream {
			return invalidArgument("$all is not read by name")
		}
		if err := checkStreamName(r.stream); err != nil {
			return err
		}
		return r.parseRevision(of.Stream)
	case *streams.ReadReq_Options_All:
		r.stream = allStream
		return r.parsePosition(of.All)
	}
	return invalidArgument("the read names no stream")
}

// parseRevision reads the place to begin at in a stream. The greatest revision means the end.
func (r *readRequest) parseRevision(o *streams.ReadReq_Options_StreamOptions) error {
	switch from := o.GetRevisionOption().(type) {
	case *streams.ReadReq_Options_StreamOptions_Start:
		r.origin = fromStart
	case *streams.ReadReq_Options_StreamOptions_End:
		r.origin = fromEnd
	case *streams.ReadReq_Options_StreamOptions_Revision:
		r.origin, r.place = fromPlace, exact(from.Revision)
		if from.Revision == math.MaxUint64 {
			r.origin = fromEnd
		}
	default:
		return invalidArgument("the read does not say at which revision to begin")
	}
	return nil
}

// parsePosition reads the place to begin at in $all. The greatest commit position means the end.
func (r *readRequest) parsePosition(o *streams.ReadReq_Options_AllOptions) error {
	switch from := o.GetAllOption().(type) {
	case *streams.ReadReq_Options_AllOptions_Start:
		r.origin = fromStart
	case *streams.ReadReq_Options_AllOptions_End:
		r.origin = fromEnd
	case *streams.ReadReq_Options_AllOptions_Position:
		commit, prepare := from.Position.GetCommitPosition(), from.Position.GetPreparePosition()
		switch {
		case commit == math.MaxUint64:
			r.origin = fromEnd
		case prepare > commit:
			return invalidArgument("the prepare position is greater than the commit position")
		default:
			r.origin, r.place = fromPlace, int64(min(commit, math.MaxInt64-1))
		}
	default:
		return invalidArgument("the read does not say at which position to begin")
	}
	return nil
}

// parseFilter reads the filter. Only reads of $all may have one.
func (r *readRequest) parseFilter(o *streams.ReadReq_Options) (err error) {
	switch f := o.GetFilterOption().(type) {
	case *streams.ReadReq_Options_NoFilter:
		return nil
	case *streams.ReadReq_Options_Filter:
		if r.stream != allStream {
			return invalidArgument("only $all can be filtered")
		}
		r.filter, err = parseFilter(f.Filter, r.subscribe)
		return err
	}
	return invalidArgument("the read does not say whether to filter")
}
