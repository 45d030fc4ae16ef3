package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeOperationEvent is an event of "cpeoperation-<id>": one write to a CPE, from the request to what became of it. No
// value that is written is in an event: values wait in the vault, and are deleted at the end.
//
//sumtype:decl
type CpeOperationEvent interface {
	Event
	cpeOperationEvent()
}

// CpeOperationKind says what a write does; its words are those of the API.
type CpeOperationKind string

// The kinds.
const (
	CpeWifi         CpeOperationKind = "wifi"
	CpeParameters   CpeOperationKind = "parameters"
	CpeReboot       CpeOperationKind = "reboot"
	CpeFactoryReset CpeOperationKind = "factory-reset"
	CpePing         CpeOperationKind = "ping"
	CpeSpeedTest    CpeOperationKind = "speed-test"
	CpeUploadTest   CpeOperationKind = "upload-test"
	CpeLogin        CpeOperationKind = "login"    // username and password of PPPoE
	CpeFirmware     CpeOperationKind = "firmware" // a file of firmware, of a campaign
)

// CpeOperationKinds lists the kinds in the order of their declaration.
func CpeOperationKinds() []CpeOperationKind {
	return []CpeOperationKind{
		CpeWifi, CpeParameters, CpeReboot, CpeFactoryReset, CpePing, CpeSpeedTest, CpeUploadTest, CpeLogin,
		CpeFirmware,
	}
}

// CpeOperationSubject says which operation an event is about, and whose it is.
type CpeOperationSubject struct {
	OperationID id.CPEOperation `json:"operationId"`
	CpeID       id.CPE          `json:"cpeId"`
	OrgID       id.Organization `json:"orgId"`
}

// CpeTask is one task of an operation at the CPE server.
type CpeTask struct {
	ID   string `json:"id"`
	Name string `json:"name"` // as the server calls it, such as "setParameterValues"
}

// CpeDeployed says which file of firmware a CPE gets, and why.
type CpeDeployed struct {
	CampaignID id.CPECampaign `json:"campaignId"`
	FirmwareID id.CPEFirmware `json:"firmwareId"`
	// BeginBy is when the CPE is not told to fetch it any more: the hours of the campaign end, or it is not reached.
	BeginBy time.Time `json:"beginBy"`
}

// CpeNotBegun is the code of an operation that failed, of which it is certain that the CPE was never told. A campaign
// tries that CPE again.
const CpeNotBegun = "not_begun"

// CpeReplaced is the code of an operation that failed because something newer is written in its place.
const CpeReplaced = "replaced"

// CpeOperationQueued records that somebody asked for a write.
type CpeOperationQueued struct {
	CpeOperationSubject
	SubscriberID id.Subscriber    `json:"subscriberId"` // whose CPE it was; null = no customer's
	Kind         CpeOperationKind `json:"kind"`
	// Names are those of the parameters that are written, where the person named them.
	Names []string `json:"names,omitempty"`
	// ValuesRef is where the vault has the values; null = there are none.
	ValuesRef id.Secret `json:"valuesRef"`
	// CallNow says that the CPE is asked to call at once; else it is written to when it calls by itself.
	CallNow bool `json:"callNow"`
	// Deployed is set for firmware alone.
	Deployed  *CpeDeployed `json:"deployed,omitempty"`
	ExpiresAt time.Time    `json:"expiresAt"` // from then on it is not written any more
	At        time.Time    `json:"at"`
}

// CpeOperationBegan records that the CPE server is about to be asked. What is not to happen twice is not asked for
// again after it, but looked for.
type CpeOperationBegan struct {
	CpeOperationSubject
	At time.Time `json:"at"`
}

// CpeOperationSent records that the CPE server has the tasks: those of the write, and once more when the device is
// asked in another session what it has then.
type CpeOperationSent struct {
	CpeOperationSubject
	Tasks []CpeTask `json:"tasks"`
	// Names are those of the parameters that are written, where the device's own tree decides which. They are left out
	// when the device is asked what it has.
	Names []string `json:"names,omitempty"`
	// Call tells what became of asking the CPE to call: "ok", "queued" or "failed".
	Call string    `json:"call"`
	At   time.Time `json:"at"`
}

// CpeTestResult has what a test has measured, by the device's own clock. What the kind of the test does not measure,
// and what the device does not tell, is zero and left out.
type CpeTestResult struct {
	// BeganAt and EndedAt are the instants of the first and of the last byte.
	BeganAt time.Time `json:"beganAt,omitzero"`
	EndedAt time.Time `json:"endedAt,omitzero"`
	Bytes   int64     `json:"bytes,omitempty"` // between the two
	// BitsPerSecond is the speed between the two.
	BitsPerSecond int64 `json:"bitsPerSecond,omitempty"`
	// ReceivedBytes are those that came to the platform, of an upload to it.
	ReceivedBytes int64 `json:"receivedBytes,omitempty"`
	Answered      int   `json:"answered,omitempty"` // pings
	Lost          int   `json:"lost,omitempty"`     // pings without an answer
	// AverageMs, LeastMs and MostMs are times of the answers, in milliseconds.
	AverageMs int `json:"averageMs,omitempty"`
	LeastMs   int `json:"leastMs,omitempty"`
	MostMs    int `json:"mostMs,omitempty"`
}

// CpeOperationMeasured records the result of a test that has ended.
type CpeOperationMeasured struct {
	CpeOperationSubject
	Kind   CpeOperationKind `json:"kind"`
	Result CpeTestResult    `json:"result"`
	At     time.Time        `json:"at"`
}

// CpeOperationConfirmed records that the write was found done.
type CpeOperationConfirmed struct {
	CpeOperationSubject
	At time.Time `json:"at"`
}

// CpeOperationFailed records that the CPE or its server refused the write.
type CpeOperationFailed struct {
	CpeOperationSubject
	Code    string    `json:"code"`    // of the fault, such as "cwmp.9007"
	Message string    `json:"message"` // in the words of the CPE or of its server, without values
	At      time.Time `json:"at"`
}

// CpeOperationExpired records that the write did not happen in time, and will not.
type CpeOperationExpired struct {
	CpeOperationSubject
	At time.Time `json:"at"`
}

func (CpeOperationQueued) EventType() string    { return "cpe.CpeOperationQueued.v1" }
func (CpeOperationBegan) EventType() string     { return "cpe.CpeOperationBegan.v1" }
func (CpeOperationSent) EventType() string      { return "cpe.CpeOperationSent.v1" }
func (CpeOperationMeasured) EventType() string  { return "cpe.CpeOperationMeasured.v1" }
func (CpeOperationConfirmed) EventType() string { return "cpe.CpeOperationConfirmed.v1" }
func (CpeOperationFailed) EventType() string    { return "cpe.CpeOperationFailed.v1" }
func (CpeOperationExpired) EventType() string   { return "cpe.CpeOperationExpired.v1" }

func (CpeOperationQueued) cpeOperationEvent()    {}
func (CpeOperationBegan) cpeOperationEvent()     {}
func (CpeOperationSent) cpeOperationEvent()      {}
func (CpeOperationMeasured) cpeOperationEvent()  {}
func (CpeOperationConfirmed) cpeOperationEvent() {}
func (CpeOperationFailed) cpeOperationEvent()    {}
func (CpeOperationExpired) cpeOperationEvent()   {}
