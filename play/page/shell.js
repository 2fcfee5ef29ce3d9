// The page around the conversation. The address carries the token; who you are and where, per tab.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const [token, ...rest] = location.hash.slice(1).split("&");
  const wanted = new URLSearchParams(rest.join("&"));
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const state = { person: wanted.get("as") || "", channel: wanted.get("in") || "", world: null, frame: "", message: "", restarting: false, misses: 0 };
  const seen = new Map();

  async function ask(path, body) {
    const response = await fetch(path, {
      method: body === undefined ? "GET" : "POST", cache: "no-store",
      headers: { "X-Play-Token": token, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value = response.headers.get("Content-Type")?.includes("json") ? await response.json() : null;
    if (!response.ok) throw Object.assign(new Error(value?.error || "refused"), { status: response.status });
    return value;
  }

  function element(tag, options = {}, ...children) {
    const node = Object.assign(document.createElement(tag), options);
    node.append(...children);
    return node;
  }

  // Drawn, not written: a machine without the font for such a sign would show an empty box.
  const DRAWINGS = {
    lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
    turn: "M6 4v9a3 3 0 0 0 3 3h9m-4-4 4 4-4 4",
    away: "M7 17 17 7M9 7h8v8",
    list: "M4 6h16M4 12h16M4 18h16",
  };
  function icon(name) {
    const [picture, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
    picture.setAttribute("viewBox", "0 0 24 24");
    picture.setAttribute("class", "icon");
    picture.setAttribute("aria-hidden", "true");
    path.setAttribute("d", DRAWINGS[name]);
    picture.append(path);
    return picture;
  }

  function cover(title, text = "") {
    $("cover").hidden = !title;
    $("cover").querySelector("strong").textContent = title;
    $("cover").querySelector("p").textContent = text;
  }

  // ---------------------------------------------------------------- where and who
  function remember() {
    history.replaceState(null, "", `#${token}&as=${state.person}&in=${state.channel}`);
  }

  async function sit() {
    const person = state.person;
    const channel = state.channel;
    const seat = await ask("/play/seat", { as: person, channel, timezone });
    if (person !== state.person || channel !== state.channel || seat.frame === state.frame) return;
    state.frame = seat.frame;
    // A frame of its own for each seat: the hash alone would only reload the old one.
    const fresh = element("iframe", { id: "frame", title: "Conversation", src: seat.frame });
    $("frame").replaceWith(fresh);
    remember();
  }

  function go(person, channel, message = "") {
    state.message = message;
    state.person = person;
    state.channel = channel;
    document.body.classList.remove("side-open");
    seen.set(`${person}:${channel}`, current()?.last || "0");
    void look(true);
  }

  function current() { return state.world?.channels.find((item) => item.id === state.channel); }

  // ---------------------------------------------------------------- drawing
  function mark(kind) { return { private: icon("lock"), thread: icon("turn"), dm: "@" }[kind] || "#"; }

  function channelRow(item) {
    const key = `${state.person}:${item.id}`;
    if (!seen.has(key) || item.id === state.channel) seen.set(key, item.last);
    const row = element("li", { className: item.kind });
    row.classList.toggle("unread", BigInt(seen.get(key)) < BigInt(item.last));
    const button = element("button", { type: "button" },
      element("span", { className: "mark" }, mark(item.kind)),
      element("span", { className: "name", textContent: item.name }));
    if (item.typing) button.append(element("span", { className: "dots", textContent: "•••", title: "Keepsake is typing" }));
    if (item.id === state.channel) button.setAttribute("aria-current", "page");
    button.addEventListener("click", () => go(state.person, item.id));
    row.append(button);
    return row;
  }

  function personRow(item) {
    const face = element("span", { className: "face", textContent: item.name[0] });
    face.style.background = item.color;
    const pick = element("button", { type: "button", className: "pick" }, face, element("span", { textContent: item.name }));
    if (item.admin) pick.append(element("small", { textContent: "admin" }));
    pick.setAttribute("aria-pressed", String(item.key === state.person));
    pick.addEventListener("click", () => go(item.key, state.channel));
    const tab = element("button", { type: "button", className: "tab", title: `Play ${item.name} in another tab` }, icon("away"));
    tab.setAttribute("aria-label", tab.title);
    tab.addEventListener("click", () => window.open(`/#${token}&as=${item.key}&in=${state.channel}`, "_blank"));
    return element("li", {}, pick, tab);
  }

  function tries() {
    return [
      ["Tell it something", "Puts a message into the box; press Enter", () => say("@Keepsake remember that I'm allergic to peanuts")],
      ["Restart it, then ask", "Ends the bot, starts it again, and writes the question for you", async () => { if (await restart()) say("@Keepsake what am I allergic to?"); }],
      ["See what it keeps", "Puts /personal memories into the box; press Enter twice", () => say("/personal memories")],
    ];
  }

  // A link to a channel, a thread or a message. A thread made a moment ago is in the next list.
  async function open(channel, message) {
    if (!state.world.channels.some((item) => item.id === channel)) await look();
    if (!state.world.channels.some((item) => item.id === channel)) tell({ play: "toast", text: "That place isn't in this playground, or you can't see it." });
    else if (channel === state.channel) tell({ play: "show", message });
    else go(state.person, channel, message);
  }

  function tell(what) { $("frame").contentWindow?.postMessage(what, location.origin); }
  function say(text) { tell({ play: "write", text }); }

  let drawn = "";
  function draw() {
    const world = state.world;
    const picture = JSON.stringify([world, state.person, state.channel, state.restarting, [...seen]]);
    if (picture === drawn) return;
    drawn = picture;
    const me = world.people.find((item) => item.key === state.person);
    const named = (item) => item.getAttribute("aria-label") || item.textContent;
    const focused = document.activeElement?.closest("li") ? named(document.activeElement) : null;
    $("guild").textContent = world.guild;
    $("channels").replaceChildren(...world.channels.filter((item) => item.kind !== "dm").map(channelRow));
    $("direct").replaceChildren(...world.channels.filter((item) => item.kind === "dm").map(channelRow));
    $("people").replaceChildren(...world.people.map(personRow));
    if (focused) [...document.querySelectorAll("#side li button")].find((item) => named(item) === focused)?.focus();
    showBot(state.restarting ? "restarting…" : world.bot.online ? "online" : "offline");
    const here = current();
    $("you").replaceChildren("You are ", element("strong", { textContent: me.name }), me.admin ? " (admin)" : "", " in ",
      element("strong", { textContent: here?.kind === "dm" ? "your direct messages" : `#${here?.name || "?"}` }), ".");
    $("about").textContent = `A playground on your own machine: no Discord, no token. Answers come from ${world.about}.`;
    document.title = `${me.name} in ${here?.kind === "dm" ? "DM" : `#${here?.name}`} · Keepsake playground`;
  }

  function showBot(how) {
    $("bot-state").classList.toggle("online", how === "online");
    $("bot-state").lastElementChild.textContent = how;
    $("restart").disabled = ["restarting…", "stopped"].includes(how);
    $("restart").title = how === "stopped" ? STOPPED.join(" ") : "Ends the bot and starts it again: same world, same database";
  }

  // ---------------------------------------------------------------- life
  const STOPPED = ["The playground has stopped.", "Start it again (python run.py play) and open the address that it prints."];

  async function look(now = false) {
    try {
      const person = state.person || "ana";
      const world = await ask(`/play/world?as=${encodeURIComponent(person)}`);
      if (state.person && person !== state.person) { if (now) await look(true); return; }
      state.world = world;
      state.person = person;
      if (!current()) state.channel = world.channels.find((item) => item.name === "general")?.id || world.channels[0].id;
      if (state.misses) { cover(""); drawn = ""; }
      state.misses = 0;
      await sit();
      draw();
    } catch (error) {
      state.misses += 1;
      if (error.status === 401 || error.status === 403) cover("This address is of an earlier playground.", "Open the address that the terminal shows now.");
      else if (error.status === 404) { state.person = ""; state.channel = ""; }
      else if (state.misses > 2) cover(...STOPPED);
      if (!$("cover").hidden) showBot("stopped");
    }
  }

  async function restart() {
    if (state.restarting) return false;
    state.restarting = true;
    draw();
    cover("Restarting the bot…", "A reply under way gets ten seconds to end. What it knows afterwards comes from its database and from Discord's history.");
    try {
      // Long enough to be read, even when the bot is back at once.
      await Promise.all([ask("/play/restart", {}), new Promise((resolve) => setTimeout(resolve, 1200))]);
      cover("");
      return true;
    } catch (error) {
      if (error.status) {
        cover("The bot didn't start again.", error.message);
        setTimeout(() => cover(""), 8000);
      } else {
        cover(...STOPPED); // nobody answered at all
        state.misses = 3;
      }
      return false;
    } finally {
      state.restarting = false;
      await look();
    }
  }

  async function tick() {
    await look();
    setTimeout(tick, 1000);
  }

  $("side-open").append(icon("list"));
  $("restart").addEventListener("click", () => void restart());
  $("side-open").addEventListener("click", () => document.body.classList.add("side-open"));
  document.querySelector("main").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) document.body.classList.remove("side-open");
  });
  $("side-close").addEventListener("click", () => document.body.classList.remove("side-open"));
  $("hint-close").addEventListener("click", () => { for (const id of ["tries", "about", "hint-close"]) $(id).hidden = true; });
  $("tries").replaceChildren(...tries().map(([text, title, act], index) => {
    const button = element("button", { type: "button", title }, element("b", { textContent: String(index + 1) }), text);
    button.addEventListener("click", () => void act());
    return button;
  }));
  window.addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== $("frame").contentWindow) return;
    if (event.data?.play === "lost") { state.frame = ""; void look(true); }
    if (event.data?.play === "open") void open(event.data.channel, event.data.message);
    if (event.data?.play === "ready" && state.message) { tell({ play: "show", message: state.message }); state.message = ""; }
  });
  window.addEventListener("hashchange", () => location.reload());
  if (token) void tick();
  else cover("The address is incomplete.", "Open the whole address that the terminal shows, with everything behind the #.");
})();
