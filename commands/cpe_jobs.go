package commands

import (
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SendCpeOperation hands an operation to the CPE server, once.
type SendCpeOperation struct{ CpeWork }

// CheckCpeOperation looks for what became of an operation that the CPE server has.
type CheckCpeOperation struct{ CpeWork }

// CpeWork says which operation a job is about, with what of it never changes.
type CpeWork struct {
	OperationID  id.CPEOperation         `json:"operationId"`
	CpeID        id.CPE                  `json:"cpeId"`
	OrgID        id.Organization         `json:"orgId"`
	SubscriberID id.Subscriber           `json:"subscriberId"` // whose CPE it was; null = no customer's
	Operation    events.CpeOperationKind `json:"operation"`
	ValuesRef    id.Secret               `json:"valuesRef"`
	CallNow      bool                    `json:"callNow,omitempty"`
	ExpiresAt    time.Time               `json:"expiresAt,omitzero"`
	Deployed     *events.CpeDeployed     `json:"deployed,omitempty"` // of firmware alone
	// Left says that the organization has given the CPE up, whoever has it by then.
	Left bool `json:"left,omitempty"`
}

// AdvanceCpeCampaign tells the next CPEs of a campaign to fetch the file, stops or ends it.
type AdvanceCpeCampaign struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
}

// PrepareCpeServer brings our provisions, presets and the file of speed tests to the CPE server.
type PrepareCpeServer struct{}

// SyncCpes reads from the CPE server which CPEs have called, and what they are.
type SyncCpes struct{}

// PollCpeFaults reads from the CPE server which faults its devices have.
type PollCpeFaults struct{}

// TagCpe gives a CPE at the CPE server the tags that it should have from a position of the log on, and counts its calls
// among those of its organization.
type TagCpe struct {
	CpeID    id.CPE `json:"cpeId"`
	Position uint64 `json:"position"`
	// Asks has the CPE ask at its next call who it is, which brings its login.
	Asks bool `json:"asks,omitempty"`
}

// LeaveCpe has the operations of an organization on a CPE looked for that it has given up, from a position of the log
// on: what waits at the CPE server is nothing for the next one.
type LeaveCpe struct {
	CpeID    id.CPE          `json:"cpeId"`
	OrgID    id.Organization `json:"orgId"`
	Position uint64          `json:"position"`
}

// FollowCpeLine brings the CPEs that use a login up to what it is from a position of the log on.
type FollowCpeLine struct {
	OrgID          id.Organization `json:"orgId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	CpeID          id.CPE          `json:"cpeId"` // this one alone; null = all
	Push           bool            `json:"push"`  // the login is written to them
	Position       uint64          `json:"position"`
}

// DropCpeValues deletes the values of an operation that has ended.
type DropCpeValues struct {
	OperationID id.CPEOperation `json:"operationId"`
	ValuesRef   id.Secret       `json:"valuesRef"`
}

func (SendCpeOperation) Kind() string  { return "cpe_send_operation" }
func (CheckCpeOperation) Kind() string { return "cpe_check_operation" }
func (DropCpeValues) Kind() string     { return "cpe_drop_values" }
func (PrepareCpeServer) Kind() string  { return "cpe_prepare_server" }
func (SyncCpes) Kind() string          { return "cpe_sync" }
func (PollCpeFaults) Kind() string     { return "cpe_poll_faults" }
func (TagCpe) Kind() string            { return "cpe_tag" }
func (FollowCpeLine) Kind() string     { return "cpe_follow_line" }
func (LeaveCpe) Kind() string          { return "cpe_leave" }

func (AdvanceCpeCampaign) Kind() string { return "cpe_advance_campaign" }

// Request is the campaign: its jobs come one after the other.
func (j AdvanceCpeCampaign) Request() string { return j.CampaignID.String() }

// Device is the CPE, whose place in the queue is that of a router.
func (w CpeWork) Device() id.Device { return id.As[id.Device](w.CpeID) }

// Device is the CPE, as that of an operation.
func (j TagCpe) Device() id.Device { return id.As[id.Device](j.CpeID) }

// Request is the operation: while one such job waits or runs, another one adds nothing.
func (w CpeWork) Request() string { return w.OperationID.String() }

// CpeValue is one parameter that is written by its name.
type CpeValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Type  string `json:"type,omitempty"` // such as "xsd:string"; "" = as the CPE has it
}

// CpeValues has the values that an operation writes. They are kept in the vault alone, and hidden in logs.
type CpeValues struct {
	SSID       string     `json:"ssid,omitempty"`
	Password   string     `json:"password,omitempty"` // of the Wi-Fi, or of PPPoE
	Username   string     `json:"username,omitempty"` // of PPPoE
	Parameters []CpeValue `json:"parameters,omitempty"`
	Host       string     `json:"host,omitempty"` // of a ping
	// Networks are the paths of the Wi-Fi networks that are written; none = the main one.
	Networks []string `json:"networks,omitempty"`
	URL      string   `json:"url,omitempty"` // of a speed or upload test; "" = ours
}

// hiddenValues stands for values in a text.
const hiddenValues = "[values]"

// LogValue hides the values.
func (CpeValues) LogValue() slog.Value { return slog.StringValue(hiddenValues) }

// String hides the values.
func (CpeValues) String() string { return hiddenValues }

// GoString hides the values.
func (CpeValues) GoString() string { return hiddenValues }

// InstallCpeProvision brings the CPE server to what a version of an organization's provision wants, or a later one.
type InstallCpeProvision struct {
	ProvisionID id.CPEProvision `json:"provisionId"`
	OrgID       id.Organization `json:"orgId"`
	Version     int             `json:"version"`
}

// Kind names the kind of job.
func (InstallCpeProvision) Kind() string { return "cpe_install_provision" }

// CpeOnuWork says which ONU a job is about, and whose it is.
type CpeOnuWork struct {
	OnuID       id.CPEOnu          `json:"onuId"`
	CpeID       id.CPE             `json:"cpeId"`
	OrgID       id.Organization    `json:"orgId"`
	OperationID id.CPEOperation    `json:"operationId"`
	Place       events.CpeOnuPlace `json:"place"`
	Steps       []string           `json:"steps,omitempty"`
}

// Device has its place in the queue among CPEs and routers.
func (w CpeOnuWork) Device() id.Device { return id.As[id.Device](w.CpeID) }

// Request is the operation: while one such job waits or runs, another one adds nothing.
func (w CpeOnuWork) Request() string { return w.OperationID.String() }

// PlaceCpeOnu does the steps of a set-up that are not done yet.
type PlaceCpeOnu struct{ CpeOnuWork }

// TakeOutCpeOnu takes an ONU out of its terminal.
type TakeOutCpeOnu struct{ CpeOnuWork }

func (PlaceCpeOnu) Kind() string   { return "cpe_place_onu" }
func (TakeOutCpeOnu) Kind() string { return "cpe_take_out_onu" }

// DeleteCpeFirmware takes a file from the CPE server that was taken back at a position of the log, unless a campaign
// loads it.
type DeleteCpeFirmware struct {
	FirmwareID id.CPEFirmware  `json:"firmwareId"`
	OrgID      id.Organization `json:"orgId"`
	StoredAs   string          `json:"storedAs"`
	Position   uint64          `json:"position"`
}

// Kind names the kind of job.
func (DeleteCpeFirmware) Kind() string { return "cpe_delete_firmware" }
