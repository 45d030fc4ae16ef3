package cpeapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Writes asks CPEs to do something (docs/rules/cpe.md#operations). Cases, Rows, CPEs and Networks
// are required.
type Writes struct {
	Cases cpecases.Operations
	Rows  cpeviews.OperationsQuery
	CPEs  cpeviews.CPEsQuery
	// Networks reads the Wi-Fi networks of a CPE from the CPE server.
	Networks func(context.Context, cpeviews.CPERow) ([]cpeviews.Network, error)
	// Server says that there is a CPE server. Without one nothing is queued.
	Server bool
	// Files says that the CPE server's file server is known, which has the file of speed tests.
	Files bool
	// Uploads says that CPEs reach this program, which takes the files of upload tests.
	Uploads bool
}

// Routes lists the endpoints.
func (a Writes) Routes() []httpapi.Route {
	route := func(
		path, summary string, request any, handle func(context.Context, *httpapi.Call) error,
	) httpapi.Route {
		return httpapi.Route{
			Method: http.MethodPost, Path: "/cpe/devices/:id/" + path, Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Request: request, Response: cpeWrite{}, Status: http.StatusAccepted,
			Summary: summary, Codes: []string{"cpe_server_not_set_up", "cpe_operations_full"}, Handle: handle,
		}
	}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/cpe/devices/:id/wifi", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Response: cpeNetworks{}, Codes: []string{"cpe_server_not_set_up"},
			Summary: "List the Wi-Fi networks that a CPE has told of", Handle: a.networks,
		},
		route("wifi", "Change name and password of a CPE's Wi-Fi", cpeNetworksRequest{}, a.wifi),
		route("parameters", "Write parameters of a CPE", cpeParametersRequest{}, a.parameters),
		route("reboot", "Restart a CPE", nil, a.act(events.CpeReboot)),
		route("factory-reset", "Give a CPE its factory settings", nil, a.act(events.CpeFactoryReset)),
		route("ping", "Have a CPE ping a host", cpePingRequest{}, a.ping),
		route("speed-test", "Have a CPE load a file", cpeSpeedTestRequest{}, a.speedTest),
		route("upload-test", "Have a CPE send a file", cpeUploadTestRequest{}, a.uploadTest),
		{
			Method: http.MethodPost, Path: "/me/devices/:id/wifi", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriber, Own: httpapi.OwnRows, PeopleOnly: true, Request: cpeWifiRequest{},
			Response: cpeWrite{}, Status: http.StatusAccepted,
			Codes:   []string{"cpe_server_not_set_up", "cpe_operations_full"},
			Summary: "Change name and password of the Wi-Fi of an own CPE", Handle: a.ownWifi,
		},
	}
}

// cpeWrite is a write that was queued. What becomes of it is told by its operation.
type cpeWrite struct {
	OperationID id.CPEOperation `json:"operationId"`
	DeviceID    id.CPE          `json:"deviceId"`
	Tasks       []cpeTask       `json:"tasks" doc:"at the CPE server; none while it was not asked"`
	Connection  string          `json:"connectionRequest" enum:"ok,queued,failed"`
}

// ForCustomer implements httpapi.StaffSees: tasks at the CPE server are for staff.
func (w *cpeWrite) ForCustomer() { w.Tasks = []cpeTask{} }

// showWrite shows an operation to whoever asked for it.
func showWrite(r cpeviews.OperationRow) cpeWrite {
	out := cpeWrite{OperationID: r.ID, DeviceID: r.CpeID, Tasks: []cpeTask{}, Connection: "queued"}
	for _, t := range r.Tasks {
		out.Tasks = append(out.Tasks, cpeTask(t))
	}
	if call := null.Zero(r.Call); call != "" {
		out.Connection = call
	}
	return out
}

// errNoServer is the failure of what only a CPE server can do.
func errNoServer() error {
	return failure.NewUnavailable("cpe_server_not_set_up", "There is no server of customers' devices.", 0, nil)
}

// asks reads which CPE is meant, asks for a write to it, and answers with the operation.
func (a Writes) asks(
	ctx context.Context, c *httpapi.Call, ask func(of id.CPE) (id.CPEOperation, bus.Result, error),
) error {
	of, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	if !a.Server {
		return errNoServer()
	}
	operation, done, err := ask(of)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusAccepted, httpapi.One[id.CPEOperation, cpeviews.OperationRow, cpeWrite]{
		Model: cpeviews.OperationsName, Missing: commands.ErrNoCpeOperation, Read: a.Rows.Get, Show: showWrite,
	}, operation, done)
}

// cpeWifiRequest is the body of a change of the Wi-Fi.
type cpeWifiRequest struct {
	SSID     string       `json:"ssid" doc:"1 to 32 bytes, for all bands of the main network"`
	Password secrets.Text `json:"password" doc:"8 to 63 letters, digits or signs of English"`
}

// cpeNetworksRequest is the body of a change by staff, who may choose networks.
type cpeNetworksRequest struct {
	cpeWifiRequest
	Networks []string `json:"networks,omitempty" doc:"paths of the networks to change; by default the main one"`
}

// wifi changes name and password of the main network, or of those that are chosen.
func (a Writes) wifi(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeNetworksRequest](c)
	if err != nil {
		return err
	}
	return a.changeWifi(ctx, c, cpecases.Wifi{SSID: in.SSID, Password: in.Password, Networks: in.Networks})
}

// changeWifi asks for a change of the Wi-Fi.
func (a Writes) changeWifi(ctx context.Context, c *httpapi.Call, in cpecases.Wifi) error {
	return a.asks(ctx, c, func(of id.CPE) (id.CPEOperation, bus.Result, error) {
		return a.Cases.Wifi(ctx, c.Asked(), of, in)
	})
}

// cpeNetworks are the Wi-Fi networks of a CPE.
type cpeNetworks struct {
	Networks []cpeNetwork `json:"networks"`
}

// cpeNetwork is one Wi-Fi network of a CPE on one radio.
type cpeNetwork struct {
	Path    string         `json:"path" doc:"by which it is chosen, such as Device.WiFi.SSID.1"`
	Name    string         `json:"name"`
	Kind    cpeNetworkKind `json:"kind" doc:"main: the customer's own; guest, backhaul: as the device marks it"`
	Enabled bool           `json:"enabled"`
	Clients *int           `json:"clients" doc:"null: not known"`
}

// cpeNetworkKind says what a network is for.
type cpeNetworkKind string

// Texts implements httpapi.Enumerated.
func (cpeNetworkKind) Texts() []string { return cpeviews.NetworkKinds() }

// networks answers with the networks that a CPE of the organization has told of.
func (a Writes) networks(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	row, err := a.CPEs.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	if row == nil {
		return commands.ErrNoCpe()
	}
	list, err := a.Networks(ctx, *row)
	if err != nil {
		return err
	}
	out := cpeNetworks{Networks: []cpeNetwork{}}
	for _, n := range list {
		one := cpeNetwork{Path: n.Path, Name: n.Name, Kind: cpeNetworkKind(n.Kind), Enabled: n.Enabled}
		if n.Clients >= 0 {
			one.Clients = &n.Clients
		}
		out.Networks = append(out.Networks, one)
	}
	return c.Send(http.StatusOK, out)
}

// ownWifi changes name and password of a CPE that the caller sees as a customer; another one does not exist for them,
// nor one that somebody else has by now, which the read model may not show yet.
func (a Writes) ownWifi(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	row, err := a.CPEs.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	if row == nil || row.SubscriberID.IsZero() || !slices.Contains(c.Caller.Own, row.SubscriberID) {
		return commands.ErrNoCpe()
	}
	in, err := httpapi.Decode[cpeWifiRequest](c)
	if err != nil {
		return err
	}
	return a.changeWifi(ctx, c, cpecases.Wifi{SSID: in.SSID, Password: in.Password, Of: row.SubscriberID})
}

// cpeParametersRequest is the body of a write by names.
type cpeParametersRequest struct {
	Parameters []cpeParameter `json:"parameters"`
	CallNow    bool           `json:"connectionRequest,omitempty" doc:"ask the device to come at once"`
}

// cpeParameter is one parameter as somebody writes it.
type cpeParameter struct {
	Name  string `json:"name" doc:"such as Device.DeviceInfo.ProvisioningCode"`
	Value string `json:"value"`
	Type  string `json:"type,omitempty" doc:"such as xsd:string; by default as the device has it"`
}

// parameters writes what is named.
func (a Writes) parameters(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeParametersRequest](c)
	if err != nil {
		return err
	}
	list := make([]commands.CpeValue, 0, len(in.Parameters))
	for _, p := range in.Parameters {
		list = append(list, commands.CpeValue(p))
	}
	return a.asks(ctx, c, func(of id.CPE) (id.CPEOperation, bus.Result, error) {
		return a.Cases.Parameters(ctx, c.Asked(), of, list, in.CallNow)
	})
}

// act asks for what has no values.
func (a Writes) act(kind events.CpeOperationKind) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		return a.asks(ctx, c, func(of id.CPE) (id.CPEOperation, bus.Result, error) {
			return a.Cases.Act(ctx, c.Asked(), of, kind)
		})
	}
}

// cpePingRequest is the body of a ping.
type cpePingRequest struct {
	Host string `json:"host"`
}

// ping has a CPE ping a host.
func (a Writes) ping(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpePingRequest](c)
	if err != nil {
		return err
	}
	return a.asks(ctx, c, func(of id.CPE) (id.CPEOperation, bus.Result, error) {
		return a.Cases.Ping(ctx, c.Asked(), of, in.Host)
	})
}

// cpeSpeedTestRequest is the body of a download test; it may be empty.
type cpeSpeedTestRequest struct {
	DownloadURL string `json:"downloadUrl,omitempty" doc:"by default a file of 10 MB of the platform"`
}

// speedTest has a CPE load a file.
func (a Writes) speedTest(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeSpeedTestRequest](c)
	if err != nil {
		return err
	}
	return a.moves(ctx, c, events.CpeSpeedTest, "downloadUrl", in.DownloadURL, a.Files)
}

// cpeUploadTestRequest is the body of an upload test; it may be empty.
type cpeUploadTestRequest struct {
	UploadURL string `json:"uploadUrl,omitempty" doc:"takes 10 MB by PUT; by default an address of the platform"`
}

// uploadTest has a CPE send a file.
func (a Writes) uploadTest(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeUploadTestRequest](c)
	if err != nil {
		return err
	}
	return a.moves(ctx, c, events.CpeUploadTest, "uploadUrl", in.UploadURL, a.Uploads)
}

// moves has a CPE move a file; without an address one of ours, if we have one.
func (a Writes) moves(
	ctx context.Context, c *httpapi.Call, kind events.CpeOperationKind, field, address string, ours bool,
) error {
	return a.asks(ctx, c, func(of id.CPE) (id.CPEOperation, bus.Result, error) {
		var f failure.Faults
		f.Check(address != "" || ours, field, "is required")
		if err := f.Err(); err != nil {
			return id.CPEOperation{}, bus.Result{}, err
		}
		return a.Cases.Transfer(ctx, c.Asked(), of, kind, field, address)
	})
}
