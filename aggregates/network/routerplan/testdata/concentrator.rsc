# Management tunnel of Lastmile: SSTP concentrator. Safe to run again.
{
:if ([:len [/interface list find where name="lastmile-tunnel"]] = 0) do={ /interface list add name="lastmile-tunnel" }
:if ([:len [/ppp profile find where name="lastmile-tunnel"]] = 0) do={ /ppp profile add name="lastmile-tunnel" local-address=10.99.0.1 only-one=yes use-encryption=yes change-tcp-mss=yes interface-list=lastmile-tunnel } else={ /ppp profile set [find where name="lastmile-tunnel"] local-address=10.99.0.1 only-one=yes use-encryption=yes change-tcp-mss=yes interface-list=lastmile-tunnel }
{
:local old [/ip firewall filter find where comment~"^lastmile-tunnel:"]
:local ids [/ip firewall filter find where dynamic=no]
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface-list=lastmile-tunnel protocol=icmp comment="lastmile-tunnel:ping" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface-list=lastmile-tunnel protocol=icmp comment="lastmile-tunnel:ping" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=drop in-interface-list=lastmile-tunnel comment="lastmile-tunnel:input-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=drop in-interface-list=lastmile-tunnel comment="lastmile-tunnel:input-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept in-interface-list=lastmile-tunnel src-address=10.99.0.0/16 dst-address=192.168.88.10 connection-state=established,related comment="lastmile-tunnel:answers" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept in-interface-list=lastmile-tunnel src-address=10.99.0.0/16 dst-address=192.168.88.10 connection-state=established,related comment="lastmile-tunnel:answers" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept in-interface-list=lastmile-tunnel src-address=10.99.0.0/16 dst-address=192.168.88.10 protocol=udp dst-port=1812,1813 comment="lastmile-tunnel:radius" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept in-interface-list=lastmile-tunnel src-address=10.99.0.0/16 dst-address=192.168.88.10 protocol=udp dst-port=1812,1813 comment="lastmile-tunnel:radius" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=drop in-interface-list=lastmile-tunnel comment="lastmile-tunnel:from-tunnels-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=drop in-interface-list=lastmile-tunnel comment="lastmile-tunnel:from-tunnels-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept out-interface-list=lastmile-tunnel src-address=192.168.88.10 comment="lastmile-tunnel:platform" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept out-interface-list=lastmile-tunnel src-address=192.168.88.10 comment="lastmile-tunnel:platform" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=drop out-interface-list=lastmile-tunnel comment="lastmile-tunnel:to-tunnels-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=drop out-interface-list=lastmile-tunnel comment="lastmile-tunnel:to-tunnels-drop" }
:foreach rule in=$old do={ /ip firewall filter remove $rule }
}
{
:local old [/ip firewall nat find where comment~"^lastmile-tunnel:"]
:local ids [/ip firewall nat find where dynamic=no]
:if ([:len $ids] > 0) do={ /ip firewall nat add chain=dstnat action=dst-nat in-interface-list=lastmile-tunnel dst-address=10.99.0.1 protocol=udp dst-port=1812,1813 to-addresses=192.168.88.10 comment="lastmile-tunnel:radius" place-before=($ids->0) } else={ /ip firewall nat add chain=dstnat action=dst-nat in-interface-list=lastmile-tunnel dst-address=10.99.0.1 protocol=udp dst-port=1812,1813 to-addresses=192.168.88.10 comment="lastmile-tunnel:radius" }
:if ([:len $ids] > 0) do={ /ip firewall nat add chain=srcnat action=src-nat out-interface-list=lastmile-tunnel src-address=192.168.88.10 to-addresses=10.99.0.1 comment="lastmile-tunnel:platform" place-before=($ids->0) } else={ /ip firewall nat add chain=srcnat action=src-nat out-interface-list=lastmile-tunnel src-address=192.168.88.10 to-addresses=10.99.0.1 comment="lastmile-tunnel:platform" }
:foreach rule in=$old do={ /ip firewall nat remove $rule }
}
:if ([:len [/ppp secret find where name="nas-1"]] = 0) do={ /ppp secret add name="nas-1" password="secretOfOne" service=sstp profile=lastmile-tunnel remote-address=10.99.3.4 disabled=no comment="lastmile-tunnel" } else={ /ppp secret set [find where name="nas-1"] password="secretOfOne" service=sstp profile=lastmile-tunnel remote-address=10.99.3.4 disabled=no comment="lastmile-tunnel" }
:if ([:len [/ppp secret find where name="nas-2"]] = 0) do={ /ppp secret add name="nas-2" password="secretOfTwo" service=sstp profile=lastmile-tunnel remote-address=10.99.7.9 disabled=no comment="lastmile-tunnel" } else={ /ppp secret set [find where name="nas-2"] password="secretOfTwo" service=sstp profile=lastmile-tunnel remote-address=10.99.7.9 disabled=no comment="lastmile-tunnel" }
/ppp secret remove [find where comment="lastmile-tunnel" and name!="nas-1" and name!="nas-2"]
/interface sstp-server server set enabled=yes port=4443 default-profile=lastmile-tunnel certificate="tunnel" authentication=mschap2
:put "tunnel concentrator: 2 routers"
}
