// SPDX-License-Identifier: GPL-2.0-only
// From attributes to the engine's configuration: the text of a scenario's table [connection].
#include "anabranch-l4-protocol.h"
#include "anabranch-socket.h"

#include <iostream>
#include <ns3/log.h>
#include <ns3/string.h>
#include <set>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchConfig");

namespace
{

/// The text sets this key.
bool
Has(const std::string& text, const std::string& key)
{
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line))
    {
        const auto start = line.find_first_not_of(" \t");
        if (start != std::string::npos && line.compare(start, key.size(), key) == 0)
        {
            const auto after = line.find_first_not_of(" \t", start + key.size());
            if (after != std::string::npos && (line[after] == '=' || line[after] == '.'))
            {
                return true;
            }
        }
    }
    return false;
}

std::string
Quoted(const std::string& word)
{
    std::string quoted = "\"";
    for (char c : word)
    {
        if (c == '"' || c == '\\')
        {
            quoted += '\\';
        }
        quoted += c;
    }
    return quoted + "\"";
}

/// A value of TOML: numbers and truth values as they are, everything else as a string.
std::string
Value(const std::string& word)
{
    const bool number = !word.empty() && word.find_first_not_of("0123456789.+-eE_") == std::string::npos;
    return number || word == "true" || word == "false" ? word : Quoted(word);
}

/// "name parameter=value" as a table of TOML, "name" as a string.
std::string
Algorithm(const std::string& text)
{
    std::istringstream words(text);
    std::string name;
    std::string word;
    words >> name;
    std::string table;
    while (words >> word)
    {
        const auto equals = word.find('=');
        NS_ABORT_MSG_IF(equals == std::string::npos,
                        "Anabranch: \"" << text << "\": write \"name parameter=value\"");
        table += ", " + word.substr(0, equals) + " = " + Value(word.substr(equals + 1));
    }
    return table.empty() ? Quoted(name) : "{ name = " + Quoted(name) + table + " }";
}

std::string
Span(Time time)
{
    return Quoted(std::to_string(time.GetNanoSeconds()) + " ns");
}

/// The default of an attribute.
struct AttributeDefault
{
    std::string text; //!< As Config::SetDefault has left it; empty if this ns-3 has no such attribute.
    bool changed;     //!< It is not ns-3's own default.
};

AttributeDefault
DefaultOf(const std::string& type, const std::string& name)
{
    TypeId::AttributeInformation info;
    if (!TypeId::LookupByName(type).LookupAttributeByName(name, &info))
    {
        return {"", false};
    }
    const auto text = info.initialValue->SerializeToString(info.checker);
    return {text, text != info.originalInitialValue->SerializeToString(info.checker)};
}

/// Warns once that an attribute has no effect.
void
WarnUnused(const std::string& attribute)
{
    static std::set<std::string> warned;
    if (warned.insert(attribute).second)
    {
        std::cerr << "Anabranch: " << attribute << " has no effect on its sockets: remove the setting, or see "
                  << "the attribute Connection of ns3::AnabranchL4Protocol\n";
    }
}

} // namespace

bool
AnabranchSocket::Differs(const std::string& name) const
{
    TypeId::AttributeInformation info;
    StringValue value;
    GetAttribute(name, value);
    return TcpSocket::GetTypeId().LookupAttributeByName(name, &info) &&
           value.Get() != info.originalInitialValue->SerializeToString(info.checker);
}

anabranch_config*
AnabranchSocket::MakeConfig() const
{
    auto either = [](const std::string& own, const std::string& nodes) { return own.empty() ? nodes : own; };
    const std::string given = either(m_connectionText, m_protocol->m_connection);
    const std::string profile = either(m_profile, m_protocol->m_profile);
    const std::string controller = either(m_controller, m_protocol->m_controller);
    const std::string scheduler = either(m_scheduler, m_protocol->m_scheduler);
    const bool profiled = !profile.empty() || Has(given, "profile");
    std::string text;
    auto add = [&](const std::string& key, const std::string& value) {
        if (!Has(given, key))
        {
            text += key + " = " + value + "\n";
        }
    };
    // Under a profile, an attribute that has ns-3's default gives way.
    auto attribute = [&](const std::string& key, const std::string& name, const std::string& value) {
        if (!profiled || Differs(name))
        {
            add(key, value);
        }
    };
    if (!profile.empty())
    {
        add("profile", Quoted(profile));
    }
    if (!controller.empty())
    {
        add("controller", Algorithm(controller));
    }
    if (!scheduler.empty())
    {
        add("scheduler", Algorithm(scheduler));
    }
    add("mss", std::to_string(m_set.segSize));
    if (!Has(given, "tcp_wmem"))
    {
        add("send_buffer", Quoted(std::to_string(m_set.sndBuf) + " B"));
    }
    if (!Has(given, "tcp_rmem"))
    {
        add("receive_buffer", Quoted(std::to_string(m_set.rcvBuf) + " B"));
    }
    attribute("initial_window", "InitialCwnd", std::to_string(m_set.initialCwnd));
    attribute("initial_rto", "ConnTimeout", Span(m_set.connTimeout));
    attribute("max_retransmissions", "DataRetries", std::to_string(m_set.dataRetries));
    attribute("nagle", "TcpNoDelay", m_set.noDelay ? "false" : "true");
    if (m_set.delAckCount == 1)
    {
        add("delayed_ack", "\"off\"");
    }
    else
    {
        attribute("delayed_ack", "DelAckTimeout", Span(m_set.delAck));
    }
    if (m_set.delAckCount > 2)
    {
        WarnUnused("a DelAckCount above 2");
    }
    for (const char* name : {"InitialSlowStartThreshold", "PersistTimeout"})
    {
        if (Differs(name))
        {
            WarnUnused(std::string("ns3::TcpSocket::") + name);
        }
    }

    static const std::string base = "ns3::TcpSocketBase";
    auto inherit = [&](const std::string& name, auto put) {
        const auto value = DefaultOf(base, name);
        if (!value.text.empty() && (!profiled || value.changed))
        {
            put(value.text);
        }
    };
    inherit("Sack", [&](const std::string& truth) { add("sack", truth); });
    inherit("Timestamp", [&](const std::string& truth) { add("timestamps", truth); });
    inherit("MinRto", [&](const std::string& time) {
        add("min_rto", Span(Time(time)));
        add("rto_floor", "\"timeout\"");
    });
    if (m_segLifetime >= 0)
    {
        add("time_wait", Span(Seconds(2 * m_segLifetime)));
    }
    else
    {
        inherit("MaxSegLifetime",
                [&](const std::string& seconds) { add("time_wait", Span(Seconds(2 * std::stod(seconds)))); });
    }
    if (const auto ecn = DefaultOf(base, "UseEcn"); ecn.changed)
    {
        add("ecn", ecn.text == "Off" ? "false" : "true");
    }
    for (const char* name : {"MaxWindowSize", "WindowScaling", "ReTxThreshold", "LimitedTransmit", "ClockGranularity"})
    {
        if (DefaultOf(base, name).changed)
        {
            WarnUnused(base + "::" + name);
        }
    }
    for (const char* name : {"SocketType", "RecoveryType", "RttEstimatorType"})
    {
        if (DefaultOf("ns3::TcpL4Protocol", name).changed)
        {
            NS_LOG_INFO("ns3::TcpL4Protocol::" << name << " concerns ns-3's TCP only");
        }
    }
    anabranch_config* config = nullptr;
    text += given + "\n";
    NS_ABORT_MSG_IF(anabranch_config_new(text.c_str(), &config) < 0,
                    "Anabranch, node " << m_node->GetId() << ": " << anabranch_last_error());
    return config;
}

} // namespace ns3
