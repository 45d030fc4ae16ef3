package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Operations tells what became of writes to CPEs (docs/rules/cpe.md#operations). All fields are required.
type Operations struct {
	CPEs  cpeviews.CPEsQuery
	Rows  cpeviews.OperationsQuery
	Users userNames
}

// Routes lists the endpoints.
func (a Operations) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/cpe/operations/:id", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Response: cpeOperation{}, Summary: "Read what became of a write to a CPE",
			Handle: a.get,
		},
		{
			Method: http.MethodGet, Path: "/cpe/devices/:id/operations", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Row: cpeOperation{}, Summary: "List the writes to a CPE, the latest first",
			Handle: a.list,
		},
		{
			Method: http.MethodGet, Path: "/cpe/devices/:id/diagnostics", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Response: cpeDiagnostics{}, Handle: a.diagnostics,
			Summary: "Read what tests of a CPE have measured",
		},
	}
}

// cpeOperationState is how far an operation has come.
type cpeOperationState string

// Texts implements httpapi.Enumerated.
func (cpeOperationState) Texts() []string { return cpeviews.OperationStates() }

// cpeOperationKind says what is written; Texts lists the values.
type cpeOperationKind string

// Texts implements httpapi.Enumerated.
func (cpeOperationKind) Texts() []string {
	var texts []string
	for _, kind := range events.CpeOperationKinds() {
		texts = append(texts, string(kind))
	}
	return append(texts, string(events.CpeOnuSetUp))
}

// cpeOperation is one write to a CPE. The values that are written are told to nobody.
type cpeOperation struct {
	ID         id.CPEOperation    `json:"id"`
	Kind       cpeOperationKind   `json:"kind"`
	DeviceID   id.CPE             `json:"deviceId"`
	State      cpeOperationState  `json:"state"`
	At         time.Time          `json:"at" doc:"of the request"`
	By         *httpapi.StaffRef  `json:"by" doc:"null: no member of the staff"`
	Names      []string           `json:"names" doc:"of the parameters, where somebody named them"`
	Written    []string           `json:"written" doc:"names of the parameters that a login or a Wi-Fi went to"`
	ExpiresAt  time.Time          `json:"expiresAt" doc:"from then on it is not written any more"`
	SentAt     *time.Time         `json:"sentAt"`
	EndedAt    *time.Time         `json:"endedAt"`
	Connection *string            `json:"connectionRequest" enum:"ok,queued,failed" doc:"null: not sent yet"`
	Error      *cpeOperationError `json:"error" doc:"null: none"`
	Tasks      []cpeTask          `json:"tasks" doc:"at the CPE server"`
	Steps      []cpeStep          `json:"steps" doc:"of the set-up of an ONU, in their order"`
}

// cpeStep is one step of the set-up of an ONU.
type cpeStep struct {
	Name cpeStepName `json:"name"`
	Done bool        `json:"done"`
}

// cpeStepName says what a step does.
type cpeStepName string

// Texts implements httpapi.Enumerated.
func (cpeStepName) Texts() []string { return commands.CpeOnuSteps(true) }

// cpeOperationError is why a write did not happen.
type cpeOperationError struct {
	Code    string `json:"code" doc:"such as cwmp.9007"`
	Message string `json:"message"`
}

// cpeTask is one task at the CPE server.
type cpeTask struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// showOperation writes null for what has not happened.
func showOperation(r cpeviews.OperationRow, names map[id.User]string) cpeOperation {
	out := cpeOperation{
		ID: r.ID, Kind: cpeOperationKind(r.Kind), DeviceID: r.CpeID, State: cpeOperationState(r.State), At: r.AskedAt,
		Names: append([]string{}, r.Names...), ExpiresAt: r.ExpiresAt, SentAt: r.SentAt, EndedAt: r.EndedAt,
		Written: append([]string{}, r.Written...), Connection: r.Call, Tasks: []cpeTask{}, Steps: []cpeStep{},
	}
	out.By = staffRef(r.ActorKind, r.ActorID, names)
	if r.ErrorCode != nil {
		out.Error = &cpeOperationError{Code: *r.ErrorCode, Message: null.Zero(r.ErrorMessage)}
	}
	for _, t := range r.Tasks {
		out.Tasks = append(out.Tasks, cpeTask(t))
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, cpeStep{Name: cpeStepName(s.Name), Done: s.Done})
	}
	return out
}

// userOf is the user who asked for something; zero for a program.
func userOf(kind, actor string) id.User {
	if kind != string(events.ActorUser) {
		return id.User{}
	}
	user, _ := id.Parse[id.User](actor) // zero for what is no user's id
	return user
}

// named reads the names of those who asked for some operations.
func (a Operations) named(
	ctx context.Context, org id.Organization, rows ...cpeviews.OperationRow,
) (map[id.User]string, error) {
	var users []id.User
	for _, r := range rows {
		if user := userOf(r.ActorKind, r.ActorID); !user.IsZero() {
			users = append(users, user)
		}
	}
	return a.Users(ctx, org, users)
}

// get answers with one operation.
func (a Operations) get(ctx context.Context, c *httpapi.Call) error {
	var names map[id.User]string // set when the row is read
	return httpapi.ReadOne(ctx, c, httpapi.One[id.CPEOperation, cpeviews.OperationRow, cpeOperation]{
		Model: cpeviews.OperationsName, Missing: commands.ErrNoCpeOperation,
		Show: func(r cpeviews.OperationRow) cpeOperation { return showOperation(r, names) },
		Read: func(
			ctx context.Context, org id.Organization, operation id.CPEOperation,
		) (*cpeviews.OperationRow, error) {
			row, err := a.Rows.Get(ctx, org, operation)
			if err != nil || row == nil {
				return nil, err
			}
			names, err = a.named(ctx, org, *row)
			return row, err
		},
	})
}

// list answers with a page of the operations on a CPE of the organization: its own ones, and none of who had it before.
func (a Operations) list(ctx context.Context, c *httpapi.Call) error {
	cpe, err := a.ofOrganization(ctx, c)
	if err != nil {
		return err
	}
	var names map[id.User]string // set when the page is read
	show := func(r cpeviews.OperationRow) cpeOperation { return showOperation(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.OperationKey, max int,
	) ([]cpeviews.OperationRow, error) {
		rows, err := a.Rows.List(ctx, c.Org.ID, cpe, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.named(ctx, c.Org.ID, rows...)
		return rows, err
	})
}
