package cpeviews

import "time"

// Health has what a CPE said of itself at an instant. A nil field was not said.
type Health struct {
	At            time.Time `db:"at"`
	UpTime        *int64    `db:"uptime"`       // seconds
	MemoryTotal   *int64    `db:"memory_total"` // bytes
	MemoryFree    *int64    `db:"memory_free"`  // bytes
	CPU           *int64    `db:"cpu"`          // percent
	BytesSent     *int64    `db:"bytes_sent"`
	BytesReceived *int64    `db:"bytes_received"`
	WifiClients   *int64    `db:"wifi_clients"` // of all networks
}
