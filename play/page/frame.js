// Runs inside a seat's frame, before simcord's own page. Adds what a chat has and a test tool hasn't:
// typing, "Apps" on a message, a file, a quick mention, Enter that is never lost.
"use strict";
(() => {
  const capability = location.hash.slice(1);
  const asked = window.fetch.bind(window);
  const headers = { "X-Simcord-Capability": capability };
  let menus = null;
  let toastTimer = 0;
  let lastReceipt = "";
  let atEnd = true;

  // ---------------------------------------------------------------- what simcord's page asks
  window.fetch = async (resource, options) => {
    const path = String(resource instanceof Request ? resource.url : resource);
    // Who speaks or runs a command wants to see what comes of it.
    if (path.includes("/api/action") && /"kind":"(send_message|run_command)"/.test(String(options?.body))) atEnd = true;
    const response = await asked(resource, options);
    if (path.includes("/api/state")) {
      showTyping(response.headers.get("X-Play-Typing") === "1");
      // The lease of a page that slept for long ends; a new one is one reload away.
      if (response.status === 410) location.reload();
      if (response.status === 401) parent.postMessage({ play: "lost" }, location.origin);
    }
    return response;
  };

  function showTyping(on) {
    document.querySelector(".play-typing")?.classList.toggle("is-on", on);
  }

  function toast(text) {
    document.querySelector(".play-toast")?.remove();
    if (!text) return;
    const box = Object.assign(document.createElement("div"), { className: "play-toast", textContent: text });
    box.setAttribute("role", "alert");
    document.body.append(box);
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => box.remove(), 6000);
  }

  // simcord reports on its toolbar, which isn't shown here; Discord tells the person beneath the message.
  function watchReceipts() {
    const receipt = window.simcordPreview?.lastAction;
    if (!receipt || receipt.correlation === lastReceipt) return;
    lastReceipt = receipt.correlation;
    if (receipt.acknowledgement === "unacknowledged") toast("The application did not respond.");
    else if (receipt.rejected || receipt.settlement === "failed") toast("That can't be done now. Try it again.");
  }

  // ---------------------------------------------------------------- composer
  function composerInput() { return document.getElementById("channel-composer-input"); }

  function write(text) {
    const input = composerInput();
    if (!(input instanceof HTMLTextAreaElement)) return;
    input.value = text;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    input.focus();
    input.setSelectionRange(text.length, text.length);
  }

  function mentionBot() {
    const input = composerInput();
    if (input instanceof HTMLTextAreaElement && !/@keepsake/i.test(input.value)) write(`@Keepsake ${input.value}`);
    input?.focus();
  }

  async function attach(file) {
    const input = composerInput();
    const form = new FormData();
    form.append("file", file, file.name);
    form.append("text", input instanceof HTMLTextAreaElement ? input.value : "");
    const response = await asked("/play/upload", { method: "POST", headers, body: form }).catch(() => null);
    if (!response?.ok) { toast("The file couldn't be sent."); return; }
    const said = (await response.json()).said;
    if (said) toast(said); else write("");
  }

  function furnishComposer() {
    const form = document.getElementById("channel-composer");
    const row = form?.querySelector(".composer-row");
    if (!form || !row) return;
    const picker = Object.assign(document.createElement("input"), { type: "file", hidden: true });
    picker.addEventListener("change", () => { if (picker.files?.[0]) void attach(picker.files[0]); picker.value = ""; });
    const add = Object.assign(document.createElement("button"), { type: "button", className: "play-attach", textContent: "+", title: "Send a file with this message" });
    add.setAttribute("aria-label", add.title);
    add.addEventListener("click", () => picker.click());
    const mention = Object.assign(document.createElement("button"), { type: "button", className: "play-mention", textContent: "@Keepsake", title: "Speak to the bot" });
    mention.addEventListener("click", mentionBot);
    row.prepend(add, picker);
    row.insertBefore(mention, document.getElementById("send-message"));

    const typing = document.createElement("div");
    typing.className = "play-typing";
    typing.setAttribute("role", "status");
    const dots = document.createElement("span");
    dots.className = "play-dots";
    dots.append(...[1, 2, 3].map(() => document.createElement("i")));
    const who = document.createElement("span");
    who.innerHTML = "<strong>Keepsake</strong> is typing…";
    typing.append(dots, who);
    form.after(typing);

    // In a direct message the bot is spoken to anyway.
    const hash = document.querySelector(".channel-header .channel-hash");
    if (hash) new MutationObserver(() => { mention.hidden = hash.textContent === "@"; }).observe(hash, { childList: true, characterData: true, subtree: true });

    // With only optional options left, Discord runs the command; simcord would open the first option.
    let walked = false;
    form.addEventListener("keydown", (event) => {
      const chip = event.target.closest?.(".command-chip");
      if (event.key === "ArrowDown" || event.key === "ArrowUp") walked = Boolean(chip);
      else if (event.key === "Enter" && chip && !walked && !event.isComposing) {
        event.preventDefault();
        event.stopImmediatePropagation();
        form.requestSubmit();
      } else walked = false;
    }, true);

    // simcord drops Enter while it waits for an earlier answer; a chat sends it a moment later.
    form.addEventListener("keydown", (event) => {
      const send = document.getElementById("send-message");
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== composerInput()) return;
      if (!(send instanceof HTMLButtonElement) || !send.disabled || !composerInput()?.value.trim()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const until = Date.now() + 8000;
      const again = () => {
        if (!send.disabled) form.requestSubmit();
        else if (Date.now() < until) setTimeout(again, 60);
      };
      again();
    }, true);
  }

  // ---------------------------------------------------------------- staying at the newest message
  // simcord follows only from the very last pixel, and not in a tab in the background.
  let handUntil = 0;
  function timeline() { return document.getElementById("channel-timeline"); }

  function follow() {
    const box = timeline();
    if (box && atEnd && box.scrollHeight - box.scrollTop - box.clientHeight > 1) box.scrollTop = box.scrollHeight;
    document.body.classList.toggle("play-at-end", atEnd);
  }

  function keepAtTheEnd() {
    const box = timeline();
    if (!box) return;
    const byHand = () => { handUntil = Date.now() + 700; };
    for (const kind of ["wheel", "touchmove", "pointerdown"]) box.addEventListener(kind, byHand, { passive: true });
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLTextAreaElement || event.target?.isContentEditable;
      if (!typing && ["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) byHand();
    });
    box.addEventListener("scroll", () => {
      if (Date.now() < handUntil) { atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60; follow(); }
    }, { passive: true });
    document.getElementById("new-messages")?.addEventListener("click", () => { atEnd = true; follow(); });
    document.getElementById("history-older")?.addEventListener("click", () => { atEnd = false; });
    setInterval(follow, 250);
  }

  // ---------------------------------------------------------------- "Apps" on a message
  async function loadMenus() {
    const response = await asked("/play/menus", { headers }).catch(() => null);
    menus = response?.ok ? (await response.json()).menus : [];
    return menus;
  }

  function closeMenu() { document.querySelector(".play-menu")?.remove(); }

  async function openMenu(button, messageId) {
    closeMenu();
    const names = await loadMenus();
    const box = document.createElement("div");
    box.className = "play-menu";
    box.setAttribute("role", "menu");
    box.append(Object.assign(document.createElement("strong"), { textContent: names.length ? "Apps" : "No apps here" }));
    for (const name of names) {
      const item = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      item.setAttribute("role", "menuitem");
      item.addEventListener("click", () => { closeMenu(); void useMenu(messageId, name); });
      box.append(item);
    }
    document.body.append(box);
    const at = button.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(at.right, innerWidth - 8) - box.offsetWidth)}px`;
    box.style.top = `${Math.min(at.bottom + 4, innerHeight - box.offsetHeight - 8)}px`;
    box.querySelector("button")?.focus();
  }

  async function useMenu(messageId, name) {
    const response = await asked("/play/menus", {
      method: "POST", headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ page: window.simcordPreview?.contextId || "", message: messageId, name }),
    }).catch(() => null);
    if (!response?.ok) { toast("The application did not respond."); return; }
    toast((await response.json()).said);
  }

  function furnishMessages() {
    for (const bar of document.querySelectorAll(".message-context-actions:not([data-play])")) {
      bar.dataset.play = "1";
      const id = bar.closest("[data-message-id]")?.dataset.messageId;
      if (!id) continue;
      const apps = Object.assign(document.createElement("button"), { type: "button", className: "message-action-button play-apps", textContent: "Apps", title: "What the bot can do with this message" });
      apps.addEventListener("click", (event) => { event.stopPropagation(); void openMenu(apps, id); });
      bar.append(apps);
    }
  }

  // ---------------------------------------------------------------- links to channels, threads, messages
  function show(messageId) {
    const until = Date.now() + 5000;
    const look = () => {
      const message = document.querySelector(`[data-message-id="${CSS.escape(messageId)}"]`);
      if (!message) { if (messageId && Date.now() < until) setTimeout(look, 100); return; }
      atEnd = false;
      message.scrollIntoView({ block: "center" });
      message.classList.add("play-shown");
      setTimeout(() => message.classList.remove("play-shown"), 2500);
    };
    look();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="https://discord.com/channels/"]');
    const thread = event.target.closest?.(".thread-summary");
    const [, channel, message = ""] = link ? new URL(link.href).pathname.split("/").slice(2) : [];
    // A thread that began at a message has the message's id.
    const target = link ? channel : thread?.closest("[data-message-id]")?.dataset.messageId;
    if (!target) return;
    event.preventDefault();
    parent.postMessage({ play: "open", channel: target, message }, location.origin);
  }, true);

  document.addEventListener("click", (event) => { if (!event.target.closest?.(".play-menu")) closeMenu(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenu(); });
  window.addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== parent) return;
    if (event.data?.play === "write") write(String(event.data.text));
    if (event.data?.play === "show") show(String(event.data.message));
  });

  document.addEventListener("DOMContentLoaded", () => {
    furnishComposer();
    const list = document.getElementById("channel-message-list");
    if (list) new MutationObserver(() => { furnishMessages(); follow(); }).observe(list, { childList: true, subtree: true });
    keepAtTheEnd();
    setInterval(watchReceipts, 300);
    parent.postMessage({ play: "ready" }, location.origin);
  });
})();
