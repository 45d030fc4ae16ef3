package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Faults serves the faults of CPEs (docs/rules/cpe.md#faults). All fields are required.
type Faults struct {
	Cases cpecases.Faults
	// List gives up to max faults of an organization after a key; of one CPE, unless it is zero.
	List func(
		ctx context.Context, org id.Organization, cpe id.CPE, after cpeviews.FaultKey, max int,
	) ([]cpeviews.FaultRow, error)
}

// Routes lists the endpoints.
func (a Faults) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/cpe/faults", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Row: cpeFault{}, Summary: "List the faults of CPEs, the latest first", Handle: a.list,
			Query: []httpapi.Param{{Name: "deviceId", Type: "uuid"}},
		},
		{
			Method: http.MethodPost, Path: "/cpe/faults/:id/clear", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Request: httpapi.ArchiveRequest{}, Response: cpeFault{},
			Summary: "Have the CPE server forget a fault", Handle: a.clear,
			Codes: []string{"cpe_in_session", "cpe_server_unavailable"},
		},
	}
}

// cpeFault is an error that the CPE server has noted for a CPE, without values.
type cpeFault struct {
	ID           id.CPEFault    `json:"id"`
	DeviceID     id.CPE         `json:"deviceId"`
	SerialNumber string         `json:"serialNumber"`
	Channel      string         `json:"channel" doc:"of a provision, or task_ and the id of a task"`
	Code         string         `json:"code" doc:"such as cwmp.9007"`
	Message      string         `json:"message"`
	Detail       cpeFaultDetail `json:"detail"`
	Retries      int            `json:"retries"`
	FirstSeen    time.Time      `json:"firstSeen"`
	LastSeen     time.Time      `json:"lastSeen"`
}

// cpeFaultDetail says which settings the device refused.
type cpeFaultDetail struct {
	Parameters []cpeFaultySetting `json:"parameters" doc:"that the device refused"`
}

// cpeFaultySetting is a device's no to one parameter.
type cpeFaultySetting struct {
	Name    string  `json:"name"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Value   *string `json:"value" doc:"that the platform writes to every device; null: a value of somebody"`
}

// showFault leaves out how the CPE server knows the fault.
func showFault(r cpeviews.FaultRow) cpeFault {
	out := cpeFault{
		ID: r.ID, DeviceID: r.CpeID, SerialNumber: r.SerialNumber, Channel: r.Channel, Code: r.Code,
		Message: r.Message, Detail: cpeFaultDetail{Parameters: []cpeFaultySetting{}}, Retries: r.Retries,
		FirstSeen: r.FirstSeen, LastSeen: r.LastSeen,
	}
	for _, p := range r.Parameters {
		out.Detail.Parameters = append(out.Detail.Parameters, cpeFaultySetting{
			Name: p.Name, Code: p.Code, Message: p.Message, Value: null.Of(p.Value),
		})
	}
	return out
}

// list answers with a page of faults of the organization's CPEs.
func (a Faults) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	cpe := httpapi.FilterID[id.CPE](f, "deviceId")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showFault, func(
		ctx context.Context, after cpeviews.FaultKey, max int,
	) ([]cpeviews.FaultRow, error) {
		return a.List(ctx, c.Org.ID, cpe, after, max)
	})
}

// clear answers with the fault as it was.
func (a Faults) clear(ctx context.Context, c *httpapi.Call) error {
	fault, err := httpapi.PathID[id.CPEFault](c, "id", commands.ErrNoCpeFault)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ArchiveRequest](c)
	if err != nil {
		return err
	}
	asked := c.Asked()
	asked.Meta.Reason = in.Reason
	row, err := a.Cases.Clear(ctx, asked, fault)
	if err != nil {
		return err
	}
	return c.Send(http.StatusOK, showFault(row))
}
