package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// ProcessState is one process that reacts to events, with what has stopped of it.
type ProcessState struct {
	Name     string        `json:"name"`
	State    string        `json:"state" enum:"waiting,history,running,stopped"`
	Position uint64        `json:"position"`
	Head     uint64        `json:"head"`
	Lag      uint64        `json:"lag" doc:"head - position, in the log's units"`
	Retrying int           `json:"retrying" doc:"instances whose command is tried again by itself"`
	Error    string        `json:"error,omitempty" doc:"why the whole process has stopped; on the root host"`
	Stopped  []StoppedPart `json:"stopped" doc:"the longest stopped first"`
}

// StoppedPart is an instance of a process that has stopped, or one of its commands.
type StoppedPart struct {
	Key     string     `json:"key" doc:"of the instance, for a retry of it alone"`
	Command *string    `json:"command" doc:"null: the instance itself"`
	Since   *time.Time `json:"since"`
	Waiting int        `json:"waiting" doc:"events or commands behind it"`
	Error   string     `json:"error,omitempty" doc:"on the root host"`
}

// Processes lists the processes and tries what has stopped again. Implementations are safe for concurrent use.
type Processes interface {
	// List gives all processes, and of what has stopped the part of one organization, or all of it for "".
	List(ctx context.Context, org string) ([]ProcessState, error)
	// Retry asks for a new try of one instance, or with an empty key of all that has stopped of the process. stopped is
	// false when nothing has, and known when there is no such process.
	Retry(ctx context.Context, process, key string) (known, stopped bool, err error)
}

// ProcessesAPI serves /system/processes.
type ProcessesAPI struct{ Processes Processes }

// retryRequest names what is tried again.
type retryRequest struct {
	Key string `json:"key,omitempty" doc:"the instance; everything that has stopped of the process when absent"`
}

// retryResponse says what was asked for.
type retryResponse struct {
	Process string  `json:"process"`
	Key     *string `json:"key" doc:"null: everything of the process"`
}

// Routes lists the endpoints of processes.
func (a ProcessesAPI) Routes() []Route {
	return []Route{
		{
			Method: http.MethodGet, Path: "/system/processes", Hosts: OnBoth, Access: AccessAdmin,
			Summary:  "Processes, with what has stopped: all of it on the root host, else the organization's own",
			Response: ListOf[ProcessState]{}, Handle: a.list,
		},
		{
			Method: http.MethodPost, Path: "/system/processes/:name/retry", Hosts: OnRoot, Access: AccessSuperAdmin,
			Summary: "Try again what has stopped of a process; the program that drives it begins within seconds",
			Request: retryRequest{}, Response: retryResponse{}, Status: http.StatusAccepted, Handle: a.retry,
		},
	}
}

// list shows errors on the root host only: one may quote another tenant's event.
func (a ProcessesAPI) list(ctx context.Context, c *Call) error {
	org := ""
	if c.hostKind != OnRoot {
		org = c.Org.ID.String()
	}
	list, err := a.Processes.List(ctx, org)
	if err != nil {
		return err
	}
	out := ListOf[ProcessState]{Data: make([]ProcessState, 0, len(list))}
	for _, p := range list {
		if c.hostKind != OnRoot {
			p.Error = ""
			for i := range p.Stopped {
				p.Stopped[i].Error = ""
			}
		}
		out.Data = append(out.Data, p)
	}
	return c.Send(http.StatusOK, out)
}

// retry leaves a request for the program that drives the processes. Fails: process_not_found, nothing_stopped.
func (a ProcessesAPI) retry(ctx context.Context, c *Call) error {
	in, err := Decode[retryRequest](c)
	if err != nil {
		return err
	}
	name := c.Param("name")
	known, stopped, err := a.Processes.Retry(ctx, name, in.Key)
	switch {
	case err != nil:
		return err
	case !known:
		return failure.NewNotFound("process_not_found", "There is no such process.")
	case !stopped:
		return failure.NewConflict("nothing_stopped", "Nothing of this name has stopped.")
	}
	out := retryResponse{Process: name}
	if in.Key != "" {
		out.Key = &in.Key
	}
	return c.Send(http.StatusAccepted, out)
}
