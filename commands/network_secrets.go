package commands

import (
	"log/slog"

	"github.com/lastmile-isp/lastmile/events"
)

// DeviceSecretPurpose is the purpose under which the vault seals a router's secret of this kind.
func DeviceSecretPurpose(kind events.CredentialKind) string { return "device_" + string(kind) }

// DeviceAPICredentials is the JSON that the vault has under a device's API reference.
type DeviceAPICredentials struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// String hides user and password from every format verb.
func (DeviceAPICredentials) String() string { return "device API credentials" }

// GoString hides user and password from %#v.
func (DeviceAPICredentials) GoString() string { return "device API credentials" }

// LogValue hides user and password from the log.
func (DeviceAPICredentials) LogValue() slog.Value {
	return slog.StringValue("device API credentials")
}
