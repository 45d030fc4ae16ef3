package embedded

import (
	"errors"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// batchError builds a status with one detail; clients decide by the type of that detail.
func batchError(code codes.Code, message string, detail proto.Message) *rpcstatus.Status {
	s := &rpcstatus.Status{Code: int32(code), Message: message}
	if packed, err := anypb.New(detail); err == nil {
		s.Details = []*anypb.Any{packed}
	}
	return s
}

// batchFault turns a call error into the status and the detail that BatchAppend has for it. Internal errors are hidden.
func batchFault(err error, b *batch) *rpcstatus.Status {
	var r *refusal
	if errors.As(err, &r) {
		switch r.exception {
		case "maximum-append-size-exceeded":
			return batchError(codes.InvalidArgument, r.message, &shared.MaximumAppendSizeExceeded{
				MaxAppendSize: uint32(b.proposals.limit),
			})
		case "access-denied":
			return batchError(codes.PermissionDenied, r.message, &shared.AccessDenied{})
		case "stream-deleted":
			return batchError(codes.NotFound, r.message, &shared.StreamDeleted{
				StreamIdentifier: b.goal.identifier(),
			})
		}
		if r.code == codes.InvalidArgument {
			return batchError(codes.InvalidArgument, r.message, &shared.BadRequest{Message: r.message})
		}
		return batchError(r.code, r.message, &shared.Unknown{})
	}
	switch s := status.Convert(err); s.Code() {
	case codes.DeadlineExceeded:
		return batchError(codes.DeadlineExceeded, s.Message(), &shared.Timeout{})
	case codes.Unknown:
		return batchError(codes.Internal, "internal error", &shared.Unknown{})
	default:
		return batchError(s.Code(), s.Message(), &shared.Unknown{})
	}
}

// wrongVersion builds the detail for an unexpected revision; current is -1 when the stream has no event.
func (b *batch) wrongVersion(current int64) *shared.WrongExpectedVersion {
	w := &shared.WrongExpectedVersion{}
	if current < 0 {
		w.CurrentStreamRevisionOption = &shared.WrongExpectedVersion_CurrentNoStream{CurrentNoStream: &emptypb.Empty{}}
	} else {
		w.CurrentStreamRevisionOption = &shared.WrongExpectedVersion_CurrentStreamRevision{
			CurrentStreamRevision: uint64(current),
		}
	}
	switch b.goal.expected {
	case expectNoStream:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedNoStream{
			ExpectedNoStream: &emptypb.Empty{},
		}
	case expectAny:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedAny{ExpectedAny: &emptypb.Empty{}}
	case expectExists:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedStreamExists{
			ExpectedStreamExists: &emptypb.Empty{},
		}
	default:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedStreamPosition{
			ExpectedStreamPosition: b.goal.position,
		}
	}
	return w
}
